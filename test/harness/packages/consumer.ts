import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { run } from '../../../infra/release/packages.ts';
import { toolScript } from '../../../infra/release/tools.ts';
import { linkTree } from './link-tree.ts';

export type Manager = 'npm' | 'pnpm' | 'yarn';

interface ConsumerOptions {
  /** A folder that does not exist. */
  readonly folder: string;
  /** The URL of the registry. */
  readonly registry: string;
  readonly packages: readonly string[];
  /** A folder in which most of them are installed: npm begins with its packages, and removes those that nothing needs. */
  readonly like?: Consumer;
  /** `npm` by default. */
  readonly manager?: Manager;
  /** The executable of Node; that of this process by default. */
  readonly node?: string;
}

/** A folder of somebody who has installed packages there. */
export interface Consumer {
  readonly folder: string;
  /** The environment in which programs run: the Node of the folder, and a home of its own. */
  readonly env: NodeJS.ProcessEnv;
  run(command: string, ...args: readonly string[]): Promise<string>;
}

/** Installs packages in an empty folder with an empty home. */
export async function installIn(options: ConsumerOptions): Promise<Consumer> {
  const { folder, registry, packages, like, manager = 'npm', node = process.execPath } = options;
  const consumer = await openConsumer(folder, registry, node);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  if (like !== undefined) linkTree(join(like.folder, 'node_modules'), join(folder, 'node_modules'));
  if (manager === 'npm') await consumer.run('npm', 'install', ...packages);
  if (manager === 'pnpm') await consumer.run(node, toolScript('pnpm'), 'add', ...packages);
  if (manager === 'yarn') {
    await writeFile(
      join(folder, '.yarnrc.yml'),
      JSON.stringify(yarnSettings(registry, join(folder, 'home'))),
    );
    // A lock file of its own tells Yarn that the folder is a project.
    await writeFile(join(folder, 'yarn.lock'), '');
    await consumer.run(node, toolScript('yarn'), 'add', ...packages);
  }
  return consumer;
}

/** Gives a folder an empty home, and an environment whose package managers know the registry alone. */
export async function openConsumer(
  folder: string,
  registry: string,
  node = process.execPath,
): Promise<Consumer> {
  const home = join(folder, 'home');
  await mkdir(home, { recursive: true });
  const { PATH = '', LANG } = process.env;
  const env = {
    PATH: [dirname(node), PATH].join(delimiter),
    HOME: home,
    LANG,
    PARLEY_HOME: join(home, 'parley'),
    npm_config_registry: registry,
    npm_config_cache: join(home, 'npm-cache'),
    npm_config_store_dir: join(home, 'pnpm-store'),
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
  };
  return { folder, env, run: (command, ...args) => run(command, args, { cwd: folder, env }) };
}

function yarnSettings(registry: string, home: string): object {
  return {
    nodeLinker: 'node-modules',
    npmRegistryServer: registry,
    npmMinimalAgeGate: 0,
    unsafeHttpWhitelist: ['127.0.0.1'],
    enableTelemetry: false,
    enableGlobalCache: false,
    cacheFolder: join(home, 'yarn-cache'),
  };
}

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

// The text is composed, because a program that makes bundles may itself be bundled, which would replace the text.
const OWN_URL = ['import', 'meta', 'url'].join('.');
const READ = new RegExp(
  `readFileSync\\(new URL\\('([^']+)', ${OWN_URL.replaceAll('.', '\\.')}\\), 'utf8'\\)`,
  'g',
);
const REQUIRE = `createRequire(${OWN_URL})(`;
const SCRIPTS_FILE = /\/redis\/script-files\.ts$/;

interface Options {
  /** Collects the path of each file whose text the bundle contains. */
  readonly embedded: Set<string>;
  /** The URL that a source gets as its own. If absent, a source that uses its URL makes the build fail. */
  readonly urlOf: ((path: string) => string) | undefined;
}

/**
 * Adds to a bundle what sources read from files next to them: the scripts for Redis, and each file that is read by a literal
 * name. A package that a source requires at run time is also included, and is evaluated when it is required.
 */
export function neighboursInside({ embedded, urlOf }: Options): Plugin {
  async function textOf(path: string): Promise<string> {
    embedded.add(path);
    return JSON.stringify(await readFile(path, 'utf8'));
  }

  /**
   * A file that only the build writes may be missing. The bundle then throws when its program reads the file, as the sources
   * do.
   */
  const absent = (name: string) =>
    `(() => { throw new Error(${JSON.stringify(`${name} is not built`)}); })()`;

  async function scripts(folder: string): Promise<string> {
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.lua')).sort();
    const entries = names.map(
      async (name) => `${JSON.stringify(name.slice(0, -'.lua'.length))}: ${await textOf(join(folder, name))}`,
    );
    return `const scripts = {${(await Promise.all(entries)).join(',\n')}};
export function readScriptFile(name) {
  if (!Object.hasOwn(scripts, name)) throw new Error('There is no script ' + name + '.');
  return scripts[name];
}`;
  }

  async function withTexts(source: string, path: string): Promise<string> {
    const texts = new Map<string, string>();
    for (const [call, name = ''] of source.matchAll(READ)) {
      const file = join(dirname(path), name);
      texts.set(call, existsSync(file) ? await textOf(file) : absent(name));
    }
    return source.replaceAll(READ, (call) => texts.get(call) ?? call);
  }

  return {
    name: 'neighbours-inside',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (SCRIPTS_FILE.test(path)) return { contents: await scripts(dirname(path)), loader: 'js' };
        const source = (await withTexts(await readFile(path, 'utf8'), path)).replaceAll(REQUIRE, 'require(');
        if (!source.includes(OWN_URL)) return { contents: source, loader: 'ts' };
        if (urlOf === undefined)
          return { errors: [{ text: `${relative('.', path)} reads the URL of itself` }] };
        return { contents: source.replaceAll(OWN_URL, JSON.stringify(urlOf(path))), loader: 'ts' };
      }),
  };
}

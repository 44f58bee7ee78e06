import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ROOT } from '../../../infra/release/packages.ts';
import { type Consumer, openConsumer } from '../packages/consumer.ts';

/** Installs the example `examples/<name>` in a folder of its own, as somebody does who has copied it. */
export type InstallExample = (name: string) => Promise<Consumer>;

/** What a developer's own try of an example has made, and what no copy of it begins with. */
const MADE = new Set(['node_modules', 'package-lock.json', 'dist', '.next', 'next-env.d.ts', '.env']);

/** Installs examples below `folder`, with Parley's packages from this registry. */
export function createExamples(folder: string, registry: string): InstallExample {
  return async (name) => {
    const copy = join(folder, 'examples', name);
    const isOfExample = (path: string) => !MADE.has(basename(path));
    await cp(join(ROOT, 'examples', name), copy, { recursive: true, filter: isOfExample });
    const example = await openConsumer(copy, registry);
    await example.run('npm', 'install');
    return example;
  };
}

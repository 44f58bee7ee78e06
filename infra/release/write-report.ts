/**
 * Measures the installed packages and writes docs/reports/packages.md. Whether a size is acceptable is decided in `judge.ts`.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installIn, openConsumer } from '../../test/harness/packages/consumer.ts';
import { packCopy } from '../../test/harness/packages/pack-copy.ts';
import { startRegistry } from '../../test/harness/packages/registry.ts';
import { startCommand } from '../../test/harness/packages/start-command.ts';
import { answerByLink } from '../../test/harness/pages/answer-link.ts';
import { browserBytes, isForBrowsers } from './entries.ts';
import { installedSize } from './installed.ts';
import { weighedEntries } from './judge.ts';
import { ROOT, readManifests } from './packages.ts';
import { installTools } from './tools.ts';

/*
 * npm run docs:packages
 *
 * Installs the packages from a registry on this machine, measures them, and writes docs/reports/packages.md.
 */

/** The same measurements from before the clients had a package of their own (1 MB is 1,000,000 bytes). */
const BEFORE: Readonly<Record<string, readonly [megabytes: number, files: number]>> = {
  '@parley/sdk': [11.1, 2_181],
  '@parley/widget': [27.5, 3_535],
  '@parley/cli': [153.6, 26_851],
};
const PORT = 18_470;
const REPORT = join(ROOT, 'docs/reports/packages.md');

const print = (text: string) => void process.stdout.write(`${text}\n`);
const number = (value: number) => Math.round(value).toLocaleString('en-US');

await installTools(print);
const folder = await mkdtemp(join(tmpdir(), 'parley-report-'));
const packed = await packCopy(folder);
const manifests = await readManifests(ROOT);
const registry = await startRegistry(folder, packed);
try {
  const installed: string[] = [];
  let readyMs = 0;
  for (const { name } of manifests) {
    const consumer = await installIn({
      folder: join(folder, name.replace('@parley/', '')),
      registry: registry.url,
      packages: [name],
    });
    const { megabytes, files } = await installedSize(consumer.folder);
    const [mbBefore, filesBefore] = BEFORE[name]?.map((value) => value.toLocaleString('en-US')) ?? ['–', '–'];
    const tarball = (packed.find((one) => one.name === name)?.bytes ?? 0) / 1000;
    installed.push(
      `| ${name} | ${number(tarball)} | ${mbBefore} | ${megabytes.toFixed(1)} | ${filesBefore} | ${number(files)} |`,
    );
    if (name !== '@parley/cli') continue;
    const begun = performance.now();
    const args = ['parley', 'dev', '--memory', '--no-question', '--port', String(PORT)];
    const dev = startCommand('npx', args, { cwd: consumer.folder, env: consumer.env });
    await dev.untilSaid(/Parley runs at/);
    readyMs = performance.now() - begun;
    await dev.stop();
  }
  const answeredMs = await firstAnswer(join(folder, 'first'));
  const entries: string[] = [];
  for (const [at, manifest] of manifests.entries()) {
    const one = packed[at];
    if (one === undefined || !isForBrowsers(manifest.name)) continue;
    const where = join(folder, manifest.name.replace('@parley/', ''));
    for (const [entry, bytes] of await browserBytes(where, weighedEntries(manifest, one)))
      entries.push(`| \`${entry}\` | ${number(bytes)} |`);
  }
  const page = await readFile(REPORT, 'utf8');
  const tables = `| package | tarball, kB | installed before, MB | now, MB | files before | now |
|---|--:|--:|--:|--:|--:|
${installed.join('\n')}

\`npx parley dev --memory\` was ready after ${(readyMs / 1000).toFixed(1)} s, with npx, at its first start, on ${availableParallelism()} cores with a load average
of ${loadavg()[0]?.toFixed(1)}. With an empty folder, home and cache, \`npx @parley/cli dev --memory\` had its first question answered on its page after
${(answeredMs / 1000).toFixed(1)} s, its installation from that registry included.

| entry point | bytes in a page, gzipped |
|---|--:|
${entries.join('\n')}`;
  const [head = '', tail = ''] = page.split(/<!-- sizes[\s\S]*end of sizes -->/);
  await writeFile(
    REPORT,
    `${head}<!-- sizes: npm run docs:packages -->\n\n${tables}\n\n<!-- end of sizes -->${tail}`,
  );
} finally {
  await registry.stop();
  await rm(folder, { recursive: true, force: true });
}

/** How long it takes to get from an empty folder to the first answered question, in ms. */
async function firstAnswer(empty: string): Promise<number> {
  const { folder: cwd, env } = await openConsumer(empty, registry.url);
  const begun = performance.now();
  const args = ['--yes', '@parley/cli', 'dev', '--memory', '--port', String(PORT)];
  const dev = startCommand('npx', args, { cwd, env });
  try {
    const [, link = ''] = await dev.untilSaid(/on a page: +(\S+)\s/);
    await answerByLink(link, { 'field-0': 'Robbie' });
    await dev.untilSaid(/The asker has the answer: Robbie/);
    return performance.now() - begun;
  } finally {
    await dev.stop();
  }
}

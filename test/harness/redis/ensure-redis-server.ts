import { execFile } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { aptInstall, onPath } from '../on-path.ts';

const run = promisify(execFile);
const OLDEST = 7;
/** Path of the redis-server, or of another server of that kind, on which all suites run. Unset, one is looked for. */
export const CHOSEN = process.env.PARLEY_TEST_REDIS_SERVER || undefined;

/** A usable redis-server, or why there is none. */
export type RedisBinary = { binary: string } | { reason: string };

/**
 * The path of a redis-server of version 7 or later: from the PATH, else installed by apt-get when this process is
 * root; undefined when neither gives one. Where `PARLEY_TEST_REDIS_SERVER` names one, that one, and an error without it.
 */
export async function ensureRedisServer(): Promise<string | undefined> {
  const found = await findRedisBinary();
  if ('binary' in found) return found.binary;
  if (CHOSEN !== undefined) throw new Error(found.reason);
  const installed = await installRedis();
  return 'binary' in installed ? installed.binary : undefined;
}

/** Takes the one that was chosen, and no other in its place; else looks on `path` (a PATH value) only. */
export async function findRedisBinary(path?: string): Promise<RedisBinary> {
  const binary =
    CHOSEN === undefined ? onPath('redis-server', path) : onPath(basename(CHOSEN), dirname(CHOSEN));
  if (!binary) return { reason: CHOSEN ? `there is no ${CHOSEN}` : 'no redis-server on the PATH' };
  const { stdout } = await run(binary, ['--version'], { timeout: 10_000 });
  const refusal = tooOld(/v=([\d.]+)/.exec(stdout)?.[1]);
  return refusal ? { reason: `${binary}: ${refusal}` } : { binary };
}

/** Installs redis-server with apt-get, then looks again. */
export async function installRedis(path?: string): Promise<RedisBinary> {
  const failed = await aptInstall('redis-server', path);
  return failed === undefined ? findRedisBinary(path) : { reason: failed };
}

/** The command line client that belongs to a server, or the redis-cli on the PATH, which speaks to all of them. */
export function cliOf(binary: string): string | undefined {
  return onPath(basename(binary).replace(/server$/, 'cli'), dirname(binary)) ?? onPath('redis-cli');
}

/** Why a server that says it is of this version cannot be used; undefined when it can. */
export function tooOld(version: string | undefined): string | undefined {
  if (Number.parseInt(version ?? '', 10) >= OLDEST) return undefined;
  return `Redis ${version ?? 'of unknown version'} is too old: Parley needs ${OLDEST}.0 or later`;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { BUCKET_KEYS, type KeyName, parseKey } from '../client/key-names.ts';
import { mastersOf } from '../client/scan-keys.ts';
import type { AuditDeps } from './audit-deps.ts';

const KEYS = 500;
const MEMBERS = 200;

/**
 * Every key in a bucket, in pages, from every master. A key that exists during the whole scan is returned at least once. Pauses
 * after each page to respect the limit of reads per second. Throws the signal's reason when aborted.
 */
export async function* scanNames(deps: AuditDeps, signal?: AbortSignal): AsyncGenerator<readonly KeyName[]> {
  for (const server of mastersOf(deps.redis)) {
    const pages = pagesOf(deps, signal, (at) => server.scan(at, 'MATCH', BUCKET_KEYS, 'COUNT', KEYS));
    for await (const page of pages) yield page.map(parseKey).filter((name) => name !== undefined);
  }
}

/** Every member of a sorted set, in pages, under the same limits as `scanNames`. */
export async function* scanMembers(
  deps: AuditDeps,
  key: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const pages = pagesOf(deps, signal, (at) => deps.redis.zscan(key, at, 'COUNT', MEMBERS));
  for await (const page of pages) yield page.filter((_, index) => index % 2 === 0);
}

async function* pagesOf(
  { run, readsPerSecond }: AuditDeps,
  signal: AbortSignal | undefined,
  read: (cursor: string) => Promise<[cursor: string, page: string[]]>,
): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    signal?.throwIfAborted();
    const at = cursor;
    const startedAt = performance.now();
    const [next, page] = await run(() => read(at));
    if (page.length > 0) yield page;
    cursor = next;
    await pause((page.length / readsPerSecond) * 1_000 - (performance.now() - startedAt), signal);
  } while (cursor !== '0');
}

/** Ends early when the signal is aborted; the next read of a page then throws. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  if (ms > 0) await sleep(ms, undefined, options).catch(() => undefined);
}

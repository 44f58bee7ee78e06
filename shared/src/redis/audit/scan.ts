import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { BUCKET_KEYS, type KeyName, parseKey } from '../client/key-names.ts';
import type { AuditDeps } from './audit-deps.ts';

const KEYS = 500;
const MEMBERS = 200;
const PAUSE_MS_MAX = 1_000;

/**
 * Every key that lies in a bucket, in pages, from every master. A key that is there all the time comes at least once.
 * Pauses after each page for as long as the page took, so that an audit uses at most half of the time of Redis. Throws the
 * signal's reason when aborted.
 */
export async function* scanNames(deps: AuditDeps, signal?: AbortSignal): AsyncGenerator<readonly KeyName[]> {
  for (const server of mastersOf(deps)) {
    const pages = pagesOf(deps, signal, (at) => server.scan(at, 'MATCH', BUCKET_KEYS, 'COUNT', KEYS));
    for await (const page of pages) {
      const startedAt = performance.now();
      yield page.map(parseKey).filter((name) => name !== undefined);
      await pause(performance.now() - startedAt, signal);
    }
  }
}

/** Every member of a sorted set, in pages, as `scanNames` does. */
export async function* scanMembers(
  deps: AuditDeps,
  key: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const pages = pagesOf(deps, signal, (at) => deps.redis.zscan(key, at, 'COUNT', MEMBERS));
  for await (const page of pages) yield page.filter((_, index) => index % 2 === 0);
}

async function* pagesOf(
  { run }: AuditDeps,
  signal: AbortSignal | undefined,
  read: (cursor: string) => Promise<[cursor: string, page: string[]]>,
): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    signal?.throwIfAborted();
    const at = cursor;
    const [next, page] = await run(() => read(at));
    if (page.length > 0) yield page;
    cursor = next;
  } while (cursor !== '0');
}

/** Ends early when the signal aborts; reading the next page then throws. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const options = signal === undefined ? {} : { signal };
  await sleep(Math.min(ms, PAUSE_MS_MAX), undefined, options).catch(() => undefined);
}

function mastersOf({ redis }: AuditDeps): readonly Redis[] {
  return 'nodes' in redis ? redis.nodes('master') : [redis];
}

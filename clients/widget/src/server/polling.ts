import type { ElicitationCache } from './cache.ts';
import type { Calls } from './calls.ts';
import { type Refusal, toRefusal } from './refusal.ts';

/** From this number of elicitations on, one list costs less than single reads. */
const LIST_FROM = 6;

export interface PollingDeps {
  readonly calls: Calls;
  readonly cache: ElicitationCache;
  readonly isLive: () => boolean;
}

/**
 * Reads everything that is followed once, and the list of open elicitations if an inbox is shown. Never rejects; resolves
 * with the refusal of the first call that failed.
 */
export async function poll(deps: PollingDeps, signal: AbortSignal): Promise<Refusal | undefined> {
  const { cache } = deps;
  let ids = cache.openIds();
  try {
    if (cache.hasInbox() || ids.length >= LIST_FROM) ids = await pollList(deps, signal);
    for (const id of ids) await pollOne(deps, id, signal);
    return undefined;
  } catch (error) {
    return toRefusal(error);
  }
}

/** Reads one elicitation into the cache, or removes it there when the server does not know it. */
export async function pollOne({ calls, cache }: PollingDeps, elicitationId: string, signal: AbortSignal) {
  try {
    cache.update(await calls.read(elicitationId, signal));
  } catch (error) {
    const refusal = toRefusal(error);
    if (refusal.code !== 'not_found') throw refusal;
    cache.remove(elicitationId);
  }
}

/** Reads the list of open elicitations. Returns the ids that are followed and not in it. */
async function pollList({ calls, cache, isLive }: PollingDeps, signal: AbortSignal): Promise<string[]> {
  const found = [];
  let cursor: string | undefined;
  do {
    const page = await calls.listOpen(cursor, signal);
    found.push(...page.elicitations);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  // While the event stream is live, the list may be older than the last event.
  if (!isLive()) return cache.replaceOpen(found);
  for (const one of found) cache.update(one);
  const listed = new Set(found.map((one) => one.elicitationId));
  return cache.openIds().filter((id) => !listed.has(id));
}

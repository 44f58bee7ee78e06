import type { ResourcesEvent } from '../events.ts';
import type { IndexedHistory } from '../index-history.ts';
import type { Breach, Limits } from '../rule.ts';

/** The first sample before and the last one after, of one process or Redis. */
export type ResourcePair = {
  readonly source: string;
  readonly before: ResourcesEvent;
  readonly after: ResourcesEvent;
};

/** Matches samples by source; a source that was sampled on one side only is left out. */
export function resourcePairs(resources: readonly ResourcesEvent[]): ResourcePair[] {
  const first = new Map<string, ResourcesEvent>();
  const last = new Map<string, ResourcesEvent>();
  for (const sample of resources) {
    const source = sample.source ?? 'all';
    if (sample.label === 'after') last.set(source, sample);
    else if (!first.has(source)) first.set(source, sample);
  }
  return [...first].flatMap(([source, before]) => {
    const after = last.get(source);
    return after ? [{ source, before, after }] : [];
  });
}

/** I14: no key and no channel remains. */
export function* nothingRemainsInRedis({ resources }: IndexedHistory): Generator<Breach> {
  for (const { source, before, after } of resourcePairs(resources)) {
    if (before.keys !== undefined && after.keys !== undefined && !(after.keys <= before.keys)) {
      yield { message: `${source}: ${before.keys} keys before, ${after.keys} after` };
    }
    if (!before.channels || !after.channels) continue;
    const known = new Set(before.channels);
    const remaining = after.channels.filter((channel) => !known.has(channel));
    if (remaining.length > 0)
      yield { message: `${source}: ${remaining.length} channels remain, among them ${remaining[0]}` };
  }
}

/** I15: memory, handles and sockets come back down. */
export function* nothingLeaks({ resources }: IndexedHistory, { resourceFactors }: Limits): Generator<Breach> {
  for (const { source, before, after } of resourcePairs(resources)) {
    for (const name of ['liveBytes', 'handles', 'sockets'] as const) {
      const [was, is] = [before[name], after[name]];
      if (was === undefined || is === undefined || is <= was * resourceFactors[name]) continue;
      yield {
        message: `${source}: ${name} ${was} before, ${is} after, at most ${resourceFactors[name]} times allowed`,
      };
    }
  }
}

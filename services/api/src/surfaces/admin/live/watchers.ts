import { ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';

/** The maximum numbers of streams of changes on one pod. */
export interface WatcherLimits {
  readonly ofOperatorMax: number;
  readonly ofTenantMax: number;
}

/** The open streams of changes on this pod, counted by operator and by tenant. */
export interface Watchers {
  /** Takes a place. The returned function releases it; further calls have no effect. Throws `rate_limited`. */
  take(caller: Caller): () => void;
}

const RETRY_AFTER_SECONDS = 10;

export function createWatchers(
  { ofOperatorMax, ofTenantMax }: WatcherLimits,
  onRefused: () => void,
): Watchers {
  const counts = new Map<string, number>();

  function add(name: string, change: 1 | -1): void {
    const count = (counts.get(name) ?? 0) + change;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  }

  return {
    take(caller) {
      const tenant = JSON.stringify([caller.tenant]);
      const operator = JSON.stringify([caller.tenant, nameOf(caller)]);
      if ((counts.get(operator) ?? 0) >= ofOperatorMax || (counts.get(tenant) ?? 0) >= ofTenantMax) {
        onRefused();
        throw new ParleyError('rate_limited', 'Too many streams of changes are open here; close one.', {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      }
      const names = [tenant, operator];
      for (const name of names) add(name, 1);
      return () => {
        for (const name of names.splice(0)) add(name, -1);
      };
    },
  };
}

function nameOf(caller: Caller): readonly string[] {
  return caller.kind === 'user' ? ['user', caller.userId] : ['key', caller.keyId ?? ''];
}

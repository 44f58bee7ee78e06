import type { RunFacts } from './facts.ts';
import type { Reason } from './strings.ts';
import { momentOf } from './times.ts';

/** Only this many waits are listed, because a turn may have hundreds. */
const LISTED_MAX = 10;

/** Explains the state of a turn. Pure. */
export function runReasons(run: RunFacts, now: number): Reason[] {
  const { status, isStopping, startedAt, endedAt = startedAt, takeOvers, parent } = run;
  const turn = { turn: run.streamRequestId, agent: run.agent, ago: now - startedAt };
  if (status !== 'running') return [{ code: 'turnEnded', ...turn, status, endedAgo: now - endedAt }];
  const calls = run.calls.map(({ toolName: tool, since, delegate }): Reason => {
    const ago = now - since;
    return delegate === undefined
      ? { code: 'called', tool, ago }
      : { code: 'delegated', tool, turn: delegate, ago };
  });
  return [
    { code: 'turn', ...turn, state: isStopping ? 'stopping' : 'running' },
    holderReason(run, now),
    ...(takeOvers === 0 ? [] : [{ code: 'podsDied', count: takeOvers } as const]),
    ...waitReasons(run, now),
    ...firstOf(calls, 'calls'),
    ...(parent === undefined ? [] : [{ code: 'worksFor', turn: parent } as const]),
  ];
}

function firstOf(reasons: readonly Reason[], what: 'waits' | 'calls'): Reason[] {
  const count = reasons.length - LISTED_MAX;
  return count <= 0 ? [...reasons] : [...reasons.slice(0, LISTED_MAX), { code: 'more', count, what }];
}

function holderReason({ holder, isStopping }: RunFacts, now: number): Reason {
  switch (holder.type) {
    case 'pod': {
      const { pod, isAlive } = holder;
      return isAlive ? { code: 'held', pod, isStopping } : { code: 'orphaned', pod };
    }
    case 'queued':
      return { code: 'queued' };
    case 'detached': {
      if (isStopping) return { code: 'detachedStopping' };
      const { restsUntil } = holder;
      return {
        code: 'detached',
        restsUntil: restsUntil === undefined ? undefined : momentOf(restsUntil, now),
      };
    }
  }
}

function waitReasons({ holder, waits, isStopping }: RunFacts, now: number): Reason[] {
  const reasons = firstOf(
    waits.map(({ id, trigger, since, openUntil }) => ({
      code: 'waits',
      id,
      trigger,
      length: now - since,
      openUntil: openUntil === undefined ? undefined : momentOf(openUntil, now),
    })),
    'waits',
  );
  const hasEnded = waits.some(({ openUntil }) => openUntil === undefined);
  if (holder.type === 'detached' && hasEnded && !isStopping) reasons.push({ code: 'waitEnded' });
  return reasons;
}

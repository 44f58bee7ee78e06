import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkClock, type WorkClock } from '@parley/shared/async/work-clock';
import type { ToolCall } from '../run/tool.ts';
import type { CalledAgent } from './called-agent.ts';
import type { RemoteTaskRules } from './result.ts';

/** The parts that a call of a remote agent needs. */
interface WorkParts<Link> {
  readonly link: Link;
  readonly call: ToolCall;
  readonly rules: RemoteTaskRules;
}

/**
 * A remote agent's task that is under way on this pod. Its state is stored in the record of the call, so that any pod can
 * continue it.
 */
export interface TaskWork<Link, State> extends WorkParts<Link> {
  readonly clock: WorkClock;
  /** Aborted when the task must end, or when this pod must stop working on it. */
  readonly over: AbortSignal;
  readonly state: State;
  /** Changes the state and records it. Rejects if the run belongs to another pod. */
  save(change: Partial<State>): Promise<void>;
}

/** Starts working from a state that includes the time worked so far. */
export function startTaskWork<
  Parts extends WorkParts<{ readonly agent: Pick<CalledAgent, 'taskMs'> }>,
  State extends { readonly workedMs: number },
>(parts: Parts, before: State): Parts & TaskWork<Parts['link'], State> {
  const { call, link } = parts;
  const clock = startWorkClock(link.agent.taskMs, before.workedMs);
  let state = before;
  return {
    ...parts,
    clock,
    over: AbortSignal.any([call.signal, clock.over]),
    get state() {
      return state;
    },
    async save(change) {
      state = { ...state, ...change, workedMs: Math.round(clock.workedMs) };
      await call.saveRound(JSON.stringify(state));
    },
  };
}

const RETRY_MIN_MS = 250;
const RETRY_MAX_MS = 10_000;

/** Waits before every attempt but the first. */
export async function pauseBefore(attempt: number, signal: AbortSignal): Promise<void> {
  const delayMs = Math.min(RETRY_MIN_MS * 2 ** (attempt - 1), RETRY_MAX_MS);
  if (attempt > 0) await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

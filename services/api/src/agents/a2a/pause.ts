import type { TaskRun } from './task-run.ts';

/** Pauses the clocks while a task waits for an authorization that the person was told of. */
export interface AuthorizationPause {
  set(isPaused: boolean): void;
  /** How long the task has waited so, in ms: all waits together, those on earlier pods included. */
  readonly waitedMs: number;
  /** True when all waits together have taken the time of a question. */
  readonly isOver: boolean;
  /** Time that is left to the person, in ms. */
  readonly leftMs: number;
}

export function createPause({ call, clock, rules, state }: TaskRun, ending: AbortSignal): AuthorizationPause {
  const maxMs = rules.questionTimeoutSeconds * 1_000;
  let beforeMs = state.waitedMs;
  let since: number | undefined;
  let resume: () => void = () => undefined;
  ending.addEventListener('abort', () => resume(), { once: true });
  const waitedMs = () => beforeMs + (since === undefined ? 0 : Math.round(performance.now() - since));
  const leftMs = () => (since === undefined ? Number.POSITIVE_INFINITY : maxMs - waitedMs());
  return {
    set(isPaused) {
      if (isPaused === (since !== undefined)) return;
      beforeMs = waitedMs();
      since = isPaused ? performance.now() : undefined;
      if (!isPaused) return resume();
      const wait = () => new Promise<void>((resolve) => (resume = resolve));
      // A run that can no longer record the pause learns why by its next write.
      call.waiting(() => clock.waiting(wait)).catch(() => undefined);
    },
    get waitedMs() {
      return waitedMs();
    },
    get isOver() {
      return leftMs() <= 0;
    },
    get leftMs() {
      return Math.max(0, leftMs());
    },
  };
}

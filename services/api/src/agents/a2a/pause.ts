import type { TaskRun } from './task-run.ts';

/** Pauses the clocks while a task waits for an authorization that was announced to the person. */
export interface AuthorizationPause {
  set(isPaused: boolean): void;
  /** How long the task has waited in total, in ms, including waits on earlier pods. */
  readonly waitedMs: number;
  /** True if the waits together have lasted as long as a question may stay open. */
  readonly isOver: boolean;
  /** Time that the person has left, in ms. */
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
      // If the run can no longer record the pause, its next write reports the reason.
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

import type { Log } from '../observe/log.ts';

/** Releases the resources of a process in reverse order of their acquisition. */
export interface Releasers {
  /** Adds a function that releases a resource that was just acquired. Throws once releasing has begun. */
  add(release: () => unknown): void;
  /** Releases everything, one after another, and then throws the first error, if any. Throws when called again. */
  release(): Promise<void>;
}

/** Makes an empty list of releasers. */
export function createReleasers(): Releasers {
  const releases: (() => unknown)[] = [];
  let released = false;
  return {
    add(release) {
      if (released)
        throw new Error('Everything was released already; this resource would never be released.');
      releases.push(release);
    },
    async release() {
      if (released) throw new Error('Everything was released already.');
      released = true;
      const errors: unknown[] = [];
      for (let next = releases.pop(); next !== undefined; next = releases.pop()) {
        try {
          await next();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}

/** The signals by which an orchestrator, or a person at a terminal, stops a service. */
export const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const satisfies readonly NodeJS.Signals[];

/**
 * Ends the process at one of these signals while it starts and has nothing to release. Without a listener, the first process of
 * a container ignores signals. Returns a function that removes the listeners; call it once `onShutdown` listens.
 */
export function exitAtSignals(signals: readonly NodeJS.Signals[]): () => void {
  const exit = () => process.exit(0);
  for (const signal of signals) process.on(signal, exit);
  return () => {
    for (const signal of signals) process.off(signal, exit);
  };
}

export interface ShutdownOptions {
  readonly signals: readonly NodeJS.Signals[];
  /** Stops accepting work, finishes or hands over running work, and releases all resources. */
  readonly drain: () => Promise<void>;
  /** Maximum duration of the drain, in ms. */
  readonly deadlineMs: number;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Ends the process, usually `process.exit`: 0 after a clean drain, otherwise 1. Called once. */
  readonly exit: (code: number) => void;
  /** Signals within this time after the first one count as the same signal, in ms. */
  readonly repeatMs?: number;
}

// At a terminal, Ctrl-C reaches a process that npm started twice: from the terminal and from npm.
const REPEAT_MS = 500;

/**
 * Drains on the first signal, then exits. Exits in any case at the deadline or at a second signal, because a drain may
 * never end: closing a BullMQ worker hangs while Redis is unavailable. Returns a function that removes the listeners.
 */
export function onShutdown(options: ShutdownOptions): () => void {
  const { signals, deadlineMs, log, repeatMs = REPEAT_MS } = options;
  let drainingSince: number | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let hasExited = false;

  function exit(code: number): void {
    if (hasExited) return;
    hasExited = true;
    clearTimeout(deadline);
    options.exit(code);
  }

  async function drain(): Promise<void> {
    try {
      await options.drain();
      exit(0);
    } catch (error) {
      log.error({ err: error }, 'drain failed');
      exit(1);
    }
  }

  function onSignal(signal: NodeJS.Signals): void {
    if (drainingSince === undefined) {
      drainingSince = performance.now();
      log.info({ signal, deadlineMs }, 'draining');
      deadline = setTimeout(() => {
        log.error({ deadlineMs }, 'drain took too long, exiting');
        exit(1);
      }, deadlineMs);
      void drain();
    } else if (performance.now() - drainingSince >= repeatMs) {
      log.warn({ signal }, 'second signal, exiting');
      exit(1);
    }
  }

  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}

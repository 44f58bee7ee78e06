import type { Log } from './log.ts';

/** What a process holds and must let go of, in the reverse of the order in which it took it. */
export interface Releasers {
  /** Notes how to let go of what was just taken. Throws once releasing has begun. */
  add(release: () => unknown): void;
  /** Lets go of everything, one after the other, then throws the first error there was. Throws when called again. */
  release(): Promise<void>;
}

/** Makes an empty list of releasers. */
export function createReleasers(): Releasers {
  const held: (() => unknown)[] = [];
  let released = false;
  return {
    add(release) {
      if (released) throw new Error('Everything was released already; this would never be.');
      held.push(release);
    },
    async release() {
      if (released) throw new Error('Everything was released already.');
      released = true;
      const errors: unknown[] = [];
      for (let next = held.pop(); next !== undefined; next = held.pop()) {
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

export interface ShutdownOptions {
  readonly signals: readonly NodeJS.Signals[];
  /** Stops taking work, finishes or hands over what runs, lets go of everything. */
  readonly drain: () => Promise<void>;
  /** How long that may take, in ms. */
  readonly deadlineMs: number;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** How to leave, usually `process.exit`: 0 after a clean drain, else 1. Called once. */
  readonly exit: (code: number) => void;
  /** A signal that comes sooner after the first belongs to it, in ms. */
  readonly repeatMs?: number;
}

// A key press at a terminal reaches a process started by npm twice: from the terminal and from npm.
const REPEAT_MS = 500;

/**
 * Drains on the first of the signals, and leaves when that is done. Leaves anyway at the deadline or at a second
 * signal, for a drain may never end: closing a BullMQ worker does not while Redis is away. Returns how to stop listening.
 */
export function onShutdown(options: ShutdownOptions): () => void {
  const { signals, deadlineMs, log, repeatMs = REPEAT_MS } = options;
  let drainingSince: number | undefined;
  let deadline: NodeJS.Timeout | undefined;
  let left = false;

  function leave(code: number): void {
    if (left) return;
    left = true;
    clearTimeout(deadline);
    options.exit(code);
  }

  async function drain(): Promise<void> {
    try {
      await options.drain();
      leave(0);
    } catch (error) {
      log.error({ err: error }, 'drain failed');
      leave(1);
    }
  }

  function onSignal(signal: NodeJS.Signals): void {
    if (drainingSince === undefined) {
      drainingSince = performance.now();
      log.info({ signal, deadlineMs }, 'draining');
      deadline = setTimeout(() => {
        log.error({ deadlineMs }, 'drain took too long, leaving');
        leave(1);
      }, deadlineMs);
      void drain();
    } else if (performance.now() - drainingSince >= repeatMs) {
      log.warn({ signal }, 'told twice, leaving');
      leave(1);
    }
  }

  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}

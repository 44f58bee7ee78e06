import { RunFencedError } from './write.ts';

/** The abort reason of work on a run that its pod stops, so that another pod continues the run. */
export class RunInterruptedError extends Error {
  constructor(message = 'The pod that ran the turn is shutting down.') {
    super(message);
    this.name = 'RunInterruptedError';
  }
}

/** The abort reason of work on a run whose parts all wait for people: no pod keeps the run in the meantime. */
export class RunDetachedError extends RunInterruptedError {
  constructor() {
    super('The turn waits for its person.');
    this.name = 'RunDetachedError';
  }
}

/** The code and message of a turn that ended because its pod went away. */
export const INTERRUPTED = {
  code: 'interrupted',
  message: 'The turn was interrupted; please ask again.',
} as const;

/** The code and message of a turn whose owners died one after the other: it may be what kills them. */
export const OWNERS_DIED = {
  code: 'owners_died',
  message:
    'The turn was ended: the servers that worked on it failed one after the other. Please ask for something else.',
} as const;

/** True when the pod stopped the work, not the person. */
export function isInterrupted(signal: AbortSignal): boolean {
  return signal.reason instanceof RunInterruptedError;
}

/** True when another pod continues the run, or already does. This pod must not end any part of it. */
export function belongsToAnotherPod(signal: AbortSignal): boolean {
  return isInterrupted(signal) || signal.reason instanceof RunFencedError;
}

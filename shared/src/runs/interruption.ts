import { RunFencedError } from './write.ts';

/** The abort reason when a pod stops working on a run that another pod shall continue. */
export class RunInterruptedError extends Error {
  constructor(message = 'The pod that ran the turn is shutting down.') {
    super(message);
    this.name = 'RunInterruptedError';
  }
}

/** The abort reason when all parts of a run wait for people, so that no pod needs to hold the run. */
export class RunDetachedError extends RunInterruptedError {
  constructor() {
    super('The turn waits for its person.');
    this.name = 'RunDetachedError';
  }
}

/** The code and message of a turn that ended because its pod was lost. */
export const INTERRUPTED = {
  code: 'interrupted',
  message: 'The turn was interrupted; please ask again.',
} as const;

/** The code and message of a turn whose owners died one after another, possibly because of the turn. */
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

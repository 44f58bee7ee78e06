import { isTerminal, OPEN_STATUSES } from '@parley/core/domain/elicitations/status';
import type { Family } from '@parley/core/domain/family';
import { toWire } from './row.ts';
import { eventOf } from './row-events.ts';
import { transition } from './transition.ts';
import type { ElicitationTypes } from './types.ts';

/** The record family of elicitations: questions to people. */
export const ELICITATIONS: Family<ElicitationTypes> = {
  prefix: 'el',
  noun: 'elicitation',
  initialStatus: 'pending',
  openStatuses: OPEN_STATUSES,
  isTerminal,
  decide: transition,
  eventOf,
  wakeHintOf: (elicitationId, revision, status) => ({ elicitationId, revision, status }),
  readWake(wake) {
    if (!('elicitationId' in wake)) return undefined;
    const { elicitationId: id, revision, status, at, settlement } = wake;
    return { id, revision, status, at, ...(settlement !== undefined && { settlement }) };
  },
  toWire,
};

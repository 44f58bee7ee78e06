import type { CallOutcome } from '../history/run-events.ts';
import type { RunHooks } from './site.ts';

/** What the booking of each conversation must come to, by what Redis held whenever its run changed its owner. */
export interface Bookings {
  readonly hooks: Required<Pick<RunHooks, 'onTerm' | 'onWrite'>>;
  /** `unknown` where an owner was lost while the record said that the call was under way; nobody can tell then. */
  outcomeOf(conversation: string): CallOutcome;
}

export function watchBookings(): Bookings {
  const underWay = new Set<string>();
  const unknown = new Set<string>();
  return {
    hooks: {
      onTerm(name) {
        if (underWay.has(name)) unknown.add(name);
      },
      onWrite(name, { notes }, accepted) {
        if (!accepted) return;
        for (const { field, value } of notes) {
          if (!field.startsWith('call:') || value.toolName !== 'bookings__book') continue;
          if (value.state === 'dispatched') underWay.add(name);
          else underWay.delete(name);
        }
      },
    },
    outcomeOf: (name) => (unknown.has(name) ? 'unknown' : 'returned'),
  };
}

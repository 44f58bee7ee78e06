import { isTerminal, type Status } from '@parley/core/domain/elicitations/status';
import type { ElicitationEvent } from '@parley/core/domain/events';
import type { Row } from './row.ts';
import type { Settlement } from './settlement.ts';

/** The event of the commit that gave an elicitation this revision and status. It never contains the answer. */
export function eventOf(
  elicitationId: string,
  revision: number,
  status: Status,
  settlement: Settlement = {},
): ElicitationEvent {
  const { action, reason, surface } = settlement;
  return {
    type: typeOf(revision, status),
    elicitationId,
    revision,
    status,
    ...(action !== undefined && { action }),
    ...(reason !== undefined && { reason }),
    ...(surface !== undefined && { surface }),
  };
}

/** The events of all commits of an elicitation, oldest first. The row determines them, so nothing else has to store them. */
export function eventsOfRow({ id, revision, status, settlement }: Row): ElicitationEvent[] {
  return Array.from({ length: revision }, (_, index) => {
    const number = index + 1;
    if (number === revision) return eventOf(id, number, status, settlement);
    return eventOf(id, number, number === 1 ? 'pending' : 'opened');
  });
}

function typeOf(revision: number, status: Status): ElicitationEvent['type'] {
  if (isTerminal(status)) return 'elicitation-resolved';
  return revision === 1 ? 'elicitation-request' : 'elicitation-updated';
}

import { isTerminal, type Status } from '@parley/core/domain/elicitations/status';
import type { ElicitationEvent } from '@parley/core/domain/events';
import { isoOf } from '@parley/core/domain/text';
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

/** The events of all commits of an elicitation, oldest first. They follow from the row alone, so they need not be stored. */
export function eventsOfRow({ id, revision, status, settlement, extensions = [] }: Row): ElicitationEvent[] {
  const moved = new Map(extensions.map((one) => [one.revision, { expiresAt: isoOf(one.expiresAt) }]));
  let open: Status = 'pending';
  return Array.from({ length: revision }, (_, index) => {
    const number = index + 1;
    // Between the first and the last commit, a commit that moved no deadline must have opened the page.
    if (number > 1 && !moved.has(number)) open = 'opened';
    const event = number === revision ? eventOf(id, number, status, settlement) : eventOf(id, number, open);
    return { ...event, ...moved.get(number) };
  });
}

function typeOf(revision: number, status: Status): ElicitationEvent['type'] {
  if (isTerminal(status)) return 'elicitation-resolved';
  return revision === 1 ? 'elicitation-request' : 'elicitation-updated';
}

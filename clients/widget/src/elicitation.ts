import type { Elicitation as Wire } from '@parley/core/domain/elicitations/elicitation';
import { MODES, STATUSES, type Status } from '@parley/core/domain/elicitations/status';
import { isRecord } from '@parley/core/domain/plain-record';

type Needed = 'elicitationId' | 'mode' | 'message' | 'status';

/**
 * An elicitation as the widget accepts it: the wire form of `/v1`, with only four required fields, because pages also pass what
 * came with a chat stream. Times are ISO 8601.
 */
export type Elicitation = Readonly<
  Pick<Wire, Needed> &
    Partial<Omit<Wire, Needed | 'context'>> & { context?: Readonly<Record<string, unknown>> }
>;

const TEXTS = [
  'title',
  'description',
  'url',
  'completion',
  'reason',
  'conversationId',
  'createdAt',
  'expiresAt',
  'settledAt',
  'serverTime',
];

/** Whether a value can be shown as an elicitation. Unknown keys are allowed, but an unknown status or mode is not. */
export function isElicitation(value: unknown): value is Elicitation {
  if (!isRecord(value)) return false;
  const { elicitationId, message, mode, status, context } = value;
  return (
    typeof elicitationId === 'string' &&
    elicitationId !== '' &&
    typeof message === 'string' &&
    (MODES as readonly unknown[]).includes(mode) &&
    (STATUSES as readonly unknown[]).includes(status) &&
    (context === undefined || isRecord(context)) &&
    TEXTS.every((key) => value[key] === undefined || typeof value[key] === 'string')
  );
}

/** Whether the person can still answer. */
export function isOpen({ status }: { readonly status: Status }): boolean {
  return rankOf(status) < 2;
}

/**
 * The newer of two views of one elicitation. A status never goes back, so the later status wins, whichever view came first. For
 * equal statuses, the later `serverTime` wins, or `next` if the times are missing or equal.
 */
export function newer(known: Elicitation | undefined, next: Elicitation): Elicitation {
  if (known === undefined || known.elicitationId !== next.elicitationId) return next;
  const step = rankOf(next.status) - rankOf(known.status);
  if (step !== 0) return step > 0 ? next : known;
  // Both are terminal. A terminal status never changes, so the known one is kept.
  if (next.status !== known.status) return known;
  return Date.parse(next.serverTime ?? '') < Date.parse(known.serverTime ?? '') ? known : next;
}

function rankOf(status: Status): 0 | 1 | 2 {
  if (status === 'pending') return 0;
  return status === 'opened' ? 1 : 2;
}

import type { Elicitation as Wire } from '@parley/shared/domain/elicitations/elicitation';
import { MODES, STATUSES, type Status } from '@parley/shared/domain/elicitations/status';
import { isRecord } from '@parley/shared/domain/plain-record';

type Needed = 'elicitationId' | 'mode' | 'message' | 'status';

/**
 * An elicitation as the widget takes it: the wire form of `/v1`, of which it insists on four fields only, because
 * pages also hand over what came through a chat stream. Times are ISO 8601.
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

/** Whether a value can be shown as an elicitation. Unknown keys pass; a status or mode of the future does not. */
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

/** True while the person can still act. */
export function isOpen({ status }: { readonly status: Status }): boolean {
  return rankOf(status) < 2;
}

/**
 * Which of two views of one elicitation holds. Its life goes one way, so the later status wins, however late the
 * other view came in; within one status the later `serverTime` wins, and `next` where that does not tell.
 */
export function newer(known: Elicitation | undefined, next: Elicitation): Elicitation {
  if (known === undefined || known.elicitationId !== next.elicitationId) return next;
  const step = rankOf(next.status) - rankOf(known.status);
  if (step !== 0) return step > 0 ? next : known;
  // Both ended: an end never changes, so whoever says otherwise is not believed.
  if (next.status !== known.status) return known;
  return Date.parse(next.serverTime ?? '') < Date.parse(known.serverTime ?? '') ? known : next;
}

function rankOf(status: Status): 0 | 1 | 2 {
  if (status === 'pending') return 0;
  return status === 'opened' ? 1 : 2;
}

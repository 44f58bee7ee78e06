/**
 * Reads Parley's event streams: events of a stream request, and snapshots and changes of an inbox. Connections and reconnecting
 * are in `follow.ts`.
 */

import type { Approval } from './domain/approvals/approval.ts';
import type { ApprovalEventName } from './domain/approvals/events.ts';
import type { Elicitation } from './domain/elicitations/elicitation.ts';
import type { ElicitationEventName } from './domain/events.ts';
import { isApproval, isElicitation } from './replies.ts';
import type { SseEvent } from './sse-parser.ts';

/** A change of an elicitation, without `content`. */
export interface ElicitationChange {
  readonly type: ElicitationEventName;
  /** Present in streams only. Pass it as `lastEventId` to continue after this event. */
  readonly id?: string;
  readonly elicitation: Elicitation;
}

/** A change of an approval, without what the person wrote. */
export interface ApprovalChange {
  readonly type: ApprovalEventName;
  /** Present in streams only; see the same field of ElicitationChange. */
  readonly id?: string;
  readonly approval: Approval;
}

/** An event of a type that this client does not know. `data` is parsed JSON, or the text if it is not JSON. */
export interface OtherEvent {
  readonly type: 'other';
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

export type StreamItem =
  | ElicitationChange
  | ApprovalChange
  /** The feed was lost. Discard what you have; everything that remains is sent again. */
  | { readonly type: 'stream-reset' }
  | OtherEvent;

export type InboxItem =
  /** Everything that is waiting for the person. It comes first and after every reconnect; replace what you have. */
  | {
      readonly type: 'inbox-snapshot';
      readonly elicitations: readonly Elicitation[];
      readonly approvals: readonly Approval[];
    }
  | ElicitationChange
  | ApprovalChange
  | OtherEvent;

const APPROVAL_CHANGES: Readonly<Record<ApprovalEventName, true>> = {
  'approval-request': true,
  'approval-updated': true,
  'approval-resolved': true,
};

const CHANGES: Readonly<Record<ElicitationEventName, true>> = {
  'elicitation-request': true,
  'elicitation-updated': true,
  'elicitation-resolved': true,
};

export function streamItemOf(event: SseEvent): StreamItem {
  return event.event === 'stream-reset' ? { type: 'stream-reset' } : itemOf(event);
}

/**
 * Reads the events of an inbox, over all connections of one reader. A snapshot comes in parts and becomes one item with its
 * last part. For the earlier parts, the result is undefined.
 */
export function createInboxReader(): (event: SseEvent) => InboxItem | undefined {
  let parts: Elicitation[] = [];
  let approvals: Approval[] = [];
  return (event) => {
    if (event.event !== 'inbox-snapshot') return itemOf(event);
    const data = (parseData(event.data) ?? {}) as {
      elicitations?: unknown;
      approvals?: unknown;
      part?: unknown;
      more?: unknown;
    };
    if (!Array.isArray(data.elicitations)) return itemOf(event);
    // The previous connection may have ended within a snapshot, so the first part starts a new one.
    if (data.part === undefined || data.part === 0) [parts, approvals] = [[], []];
    parts.push(...data.elicitations);
    // Pods of builds before approvals send none.
    if (Array.isArray(data.approvals)) approvals.push(...data.approvals);
    return data.more === true ? undefined : { type: event.event, elicitations: parts, approvals };
  };
}

function itemOf({ event, id, data }: SseEvent): ElicitationChange | ApprovalChange | OtherEvent {
  return eventItemOf(event, parseData(data), id);
}

/** The item for an event by its name and its data. */
export function eventItemOf(
  event: string,
  data: unknown,
  id?: string,
): ElicitationChange | ApprovalChange | OtherEvent {
  const position = id === undefined ? {} : { id };
  if (isChange(event) && isElicitation(data)) return { type: event, ...position, elicitation: data };
  if (isApprovalChange(event) && isApproval(data)) return { type: event, ...position, approval: data };
  return { type: 'other', event, ...position, data };
}

function isChange(event: string): event is ElicitationEventName {
  return Object.hasOwn(CHANGES, event);
}

function isApprovalChange(event: string): event is ApprovalEventName {
  return Object.hasOwn(APPROVAL_CHANGES, event);
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

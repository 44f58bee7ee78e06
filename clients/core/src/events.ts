import type { Approval } from './domain/approvals/approval.ts';
import type { ApprovalEventName } from './domain/approvals/events.ts';
import type { Elicitation } from './domain/elicitations/elicitation.ts';
import type { ElicitationEventName } from './domain/events.ts';
import { isApproval, isElicitation } from './replies.ts';
import type { SseEvent } from './sse-parser.ts';

/** A change of an elicitation. The elicitation comes without `content`. */
export interface ElicitationChange {
  readonly type: ElicitationEventName;
  /** Only in streams: pass it as `lastEventId` to continue after this event. */
  readonly id?: string;
  readonly elicitation: Elicitation;
}

/** A change of an approval, without what the person wrote. */
export interface ApprovalChange {
  readonly type: ApprovalEventName;
  /** Only in streams, as with elicitations. */
  readonly id?: string;
  readonly approval: Approval;
}

/** An event of a type that this client does not know. `data` is its JSON, or its text when that is not JSON. */
export interface OtherEvent {
  readonly type: 'other';
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

export type StreamItem =
  | ElicitationChange
  | ApprovalChange
  /** The feed was lost: discard what you have; everything that remains is sent again. */
  | { readonly type: 'stream-reset' }
  | OtherEvent;

export type InboxItem =
  /** Everything that waits for the person. It comes first, and after every reconnect: replace what you have. */
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
 * Reads the events of an inbox, over all connections of one reader. A snapshot comes in parts; it becomes one item when
 * its last part is here. Returns nothing for the parts before.
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
    // A connection may have ended within a snapshot.
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

import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import type { ElicitationEventName } from '@parley/shared/domain/events';
import { isElicitation } from './replies.ts';
import type { SseEvent } from './sse-parser.ts';

/** A change of an elicitation. The elicitation comes without `content`. */
export interface ElicitationChange {
  readonly type: ElicitationEventName;
  /** Only in streams: pass it as `lastEventId` to continue after this event. */
  readonly id?: string;
  readonly elicitation: Elicitation;
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
  /** The feed was lost: discard what you have; everything that remains is sent again. */
  | { readonly type: 'stream-reset' }
  | OtherEvent;

export type InboxItem =
  /** Every open elicitation of the person. It comes first, and after every reconnect: replace what you have. */
  | { readonly type: 'inbox-snapshot'; readonly elicitations: readonly Elicitation[] }
  | ElicitationChange
  | OtherEvent;

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
  return (event) => {
    if (event.event !== 'inbox-snapshot') return itemOf(event);
    const data = (parseData(event.data) ?? {}) as { elicitations?: unknown; part?: unknown; more?: unknown };
    if (!Array.isArray(data.elicitations)) return itemOf(event);
    // A connection may have ended within a snapshot.
    if (data.part === undefined || data.part === 0) parts = [];
    parts.push(...data.elicitations);
    return data.more === true ? undefined : { type: event.event, elicitations: parts };
  };
}

function itemOf({ event, id, data }: SseEvent): ElicitationChange | OtherEvent {
  return eventItemOf(event, parseData(data), id);
}

/** The item for an event by its name and its data. */
export function eventItemOf(event: string, data: unknown, id?: string): ElicitationChange | OtherEvent {
  const position = id === undefined ? {} : { id };
  if (isChange(event) && isElicitation(data)) return { type: event, ...position, elicitation: data };
  return { type: 'other', event, ...position, data };
}

function isChange(event: string): event is ElicitationEventName {
  return Object.hasOwn(CHANGES, event);
}

function parseData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

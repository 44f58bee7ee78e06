import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import type { ElicitationEventName } from '@parley/shared/domain/events';
import type { ConnectionDeps, SseEvent } from './connection.ts';
import { isElicitation } from './reply.ts';
import { readEvents } from './sse.ts';
import { segmentOf } from './transport.ts';

/** Something happened to an elicitation. It comes without `content`. */
export interface ElicitationChange {
  readonly type: ElicitationEventName;
  /** Of a stream: pass it as `lastEventId` to go on after this event. */
  readonly id?: string;
  readonly elicitation: Elicitation;
}

/** An event of a type that this client does not know, as it came; `data` is its JSON, or the text that is none. */
export interface OtherEvent {
  readonly type: 'other';
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

export type StreamItem =
  | ElicitationChange
  /** The feed was lost: forget what you have, everything that is left comes again. */
  | { readonly type: 'stream-reset' }
  | OtherEvent;

export type InboxItem =
  /** Everything that waits for the person. It comes first, and after every reconnect: replace what you have. */
  | { readonly type: 'inbox-snapshot'; readonly elicitations: readonly Elicitation[] }
  | ElicitationChange
  | OtherEvent;

export interface InboxOptions {
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /** A connection that brings nothing for so long, not even a heartbeat, is given up. @default 45000 */
  readonly heartbeatTimeoutMs?: number;
}

export interface StreamOptions extends InboxOptions {
  /** Whose stream; a service names the user. */
  readonly userId?: string;
  /** Begin after this event instead of at the start. */
  readonly lastEventId?: string;
}

const HEARTBEAT_TIMEOUT_MS = 45_000;
const CHANGES: Readonly<Record<ElicitationEventName, true>> = {
  'elicitation-request': true,
  'elicitation-updated': true,
  'elicitation-resolved': true,
};

/** Follows a stream request over as many connections as it takes. */
export async function* followStream(
  deps: ConnectionDeps,
  streamRequestId: string,
  options: StreamOptions,
): AsyncGenerator<StreamItem, void> {
  const path = `/v1/streams/${segmentOf(streamRequestId)}/events`;
  for await (const event of readEvents(
    deps,
    { path, query: { userId: options.userId } },
    sseOptions(options),
  )) {
    yield event.event === 'stream-reset' ? { type: 'stream-reset' } : itemOf(event);
  }
}

/** Follows an inbox over as many connections as it takes. */
export async function* followInbox(
  deps: ConnectionDeps,
  options: InboxOptions,
): AsyncGenerator<InboxItem, void> {
  for await (const event of readEvents(deps, { path: '/v1/inbox/events' }, sseOptions(options))) {
    yield snapshotOf(event) ?? itemOf(event);
  }
}

function sseOptions(options: StreamOptions) {
  return { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS, ...options };
}

function snapshotOf({ event, data }: SseEvent): InboxItem | undefined {
  if (event !== 'inbox-snapshot') return undefined;
  const { elicitations } = (dataOf(data) ?? {}) as { elicitations?: unknown };
  return Array.isArray(elicitations) ? { type: event, elicitations } : undefined;
}

function itemOf({ event, id, data: text }: SseEvent): ElicitationChange | OtherEvent {
  const data = dataOf(text);
  const place = id === undefined ? {} : { id };
  if (isChange(event) && isElicitation(data)) return { type: event, ...place, elicitation: data };
  return { type: 'other', event, ...place, data };
}

function isChange(event: string): event is ElicitationEventName {
  return Object.hasOwn(CHANGES, event);
}

function dataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

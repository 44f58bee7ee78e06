/** The event streams of the hub API: a stream request, and a person's inbox. Chat streams are in the surfaces of chats. */

import { UserId } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import { type FeedPosition, parseFeedPosition } from '@parley/core/domain/events';
import { isReferenceId, type Owner } from '@parley/core/domain/ids';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import { hasScope } from '@parley/shared/domain/service-key';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { InboxItem } from '@parley/shared/elicitations/inbox';
import { oncePerRecord } from '@parley/shared/elicitations/notices';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import { z } from 'zod';
import { SAMPLE_ANSWERED, SAMPLE_ELICITATION, sampleEvents } from '../../http/docs/samples.ts';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import { inStreamPlace, type StreamPlace } from '../../http/limits/stream-places.ts';
import { ownerOf } from '../../http/reply.ts';
import { bearer, type Route, route } from '../../http/route.ts';
import type { SseFrameEvent } from '../../http/sse.ts';
import { elicitEventOf } from './elicit-view.ts';

const Events = { description: 'Server-sent events; data is JSON', events: true } as const;

const { content: _content, ...RESOLVED } = SAMPLE_ANSWERED;
const STREAM_EXAMPLE = sampleEvents(
  ['elicitation-request', '1768469400000000-1', SAMPLE_ELICITATION],
  ['elicitation-resolved', '1768469400000000-2', RESOLVED],
);
const INBOX_EXAMPLE = sampleEvents(
  ['inbox-snapshot', undefined, { elicitations: [SAMPLE_ELICITATION] }],
  ['elicitation-resolved', undefined, RESOLVED],
);

/** The event streams of the hub API. */
export function streamRoutes(engine: Engine, limits: CallLimits): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/streams/:streamRequestId/events',
      proof: bearer('user', 'read'),
      opensStream: true,
      query: z.strictObject({
        userId: UserId.optional().describe('Required for a service.'),
        view: z
          .enum(['elicit'])
          .optional()
          .describe(
            '`elicit`: events `elicitation_requested` with `elicit_id`, `type`, `prompt` and `options`.',
          ),
      }),
      docs: {
        group: 'Streams',
        summary: 'Follow a stream request',
        example: { reply: STREAM_EXAMPLE },
        description:
          'Events elicitation-request, elicitation-updated, elicitation-resolved, approval-request, approval-updated, approval-resolved and stream-reset, in order, without the answer. Users and keys with the scope `admin` also get the events of a chat. Resumes after Last-Event-ID on any pod.',
        headers: { 'Last-Event-ID': 'Replay what came after this event.' },
        replies: { 200: Events },
      },
      async handle({ caller, params, query, header, whenOver, admitted }) {
        const stream = {
          ...ownerOf(caller, query.userId),
          streamRequestId: referenceOf(params.streamRequestId),
        };
        const after = positionOf(header('last-event-id'));
        await admitted;
        const reader = { stream: `stream/${stream.streamRequestId}`, returns: after !== undefined };
        return inStreamPlace(limits, { caller, whenOver }, reader, async (place) => {
          const items = await engine.watch({
            stream,
            evenIfSilent: caller.kind === 'service',
            signal: place.signal,
            ...(after !== undefined && { after }),
          });
          const shown =
            query.view === 'elicit' ? elicitEvent : readsChats(caller) ? streamEvent : questionEvent;
          // Only a person's own client counts as having seen the questions. The reader of a service is not a person.
          const seen = caller.kind === 'user' ? withNotes(engine, stream, items) : items;
          return { type: 'events', isFollowed: true, events: mapped(seen, shown, place) };
        });
      },
    }),
    inboxRoute(engine, limits),
  ];
}

function inboxRoute(engine: Engine, limits: CallLimits): Route {
  return route({
    method: 'GET',
    path: '/v1/inbox/events',
    proof: bearer('user'),
    opensStream: true,
    docs: {
      group: 'Streams',
      summary: 'Follow what waits for you',
      example: { reply: INBOX_EXAMPLE },
      description:
        'First an inbox-snapshot, in parts: `part` counts them from 0, and the last one has `more: false`. Then elicitation-request, elicitation-updated and elicitation-resolved, and for calls to approve approval-request, approval-updated and approval-resolved.',
      replies: { 200: Events },
    },
    async handle({ caller, whenOver }) {
      const owner = ownerOf(caller, undefined);
      const reader = { stream: 'inbox', returns: false };
      return inStreamPlace(limits, { caller, whenOver }, reader, async (place) => ({
        type: 'events',
        isFollowed: true,
        events: mapped(engine.watchInbox({ owner, signal: place.signal }), inboxEvent, place),
      }));
    },
  });
}

function streamEvent(item: WatchItem): SseFrameEvent {
  switch (item.type) {
    case 'reset':
      return { event: 'stream-reset', data: {} };
    case 'elicitation':
      return { id: item.id, event: item.event, data: item.elicitation };
    case 'approval':
      return { id: item.id, event: item.event, data: item.approval };
    case 'other':
      return { id: item.id, event: item.event.type, data: item.event };
  }
}

/** True if a caller may read the text of chats and the data of tools, and not only questions. */
function readsChats(caller: Caller): boolean {
  return caller.kind === 'user' || caller.scopes === undefined || hasScope(caller.scopes, ['admin']);
}

/** The event for an item; undefined for an event of a chat. */
function questionEvent(item: WatchItem): SseFrameEvent | undefined {
  return item.type === 'other' ? undefined : streamEvent(item);
}

/** The same, as `elicitation_requested` and `elicitation_resolved`. */
function elicitEvent(item: WatchItem): SseFrameEvent | undefined {
  const event = questionEvent(item);
  return event && elicitEventOf(event);
}

function inboxEvent(item: InboxItem): SseFrameEvent {
  switch (item.type) {
    case 'snapshot': {
      const { elicitations, approvals, part, more } = item;
      return { event: 'inbox-snapshot', data: { elicitations, approvals, part, more } };
    }
    case 'approval-change':
      return { event: item.event, data: item.approval };
    case 'change':
      return { event: item.event, data: item.elicitation };
  }
}

/** Passes the items on, and records once for each open question and approval that its owner has seen it. */
async function* withNotes(
  { notices }: Pick<Engine, 'notices'>,
  owner: Owner,
  items: AsyncIterable<WatchItem>,
): AsyncGenerator<WatchItem, void> {
  const note = oncePerRecord((asked) => notices.seen(owner, asked));
  for await (const item of items) {
    // If this fails, the person is notified anyway.
    if ('hasNotices' in item)
      note(item.type === 'approval' ? item.approval : item.elicitation).catch(() => undefined);
    yield item;
  }
}

/** The events for the items, without items that have none. Releases the stream's place at the end, whatever ends it. */
async function* mapped<Item>(
  items: AsyncIterable<Item>,
  toEvent: (item: Item) => SseFrameEvent | undefined,
  { release, signal }: StreamPlace,
): AsyncGenerator<SseFrameEvent, 'end' | 'cut'> {
  try {
    for await (const item of items) {
      const event = toEvent(item);
      if (event !== undefined) yield event;
    }
    return 'end';
  } catch (error) {
    if (!signal.aborted) throw error;
    return 'cut';
  } finally {
    release();
  }
}

function referenceOf(streamRequestId: string | undefined): string {
  if (streamRequestId === undefined || !isReferenceId(streamRequestId)) throw notFound();
  return streamRequestId;
}

function positionOf(lastEventId: string | undefined): FeedPosition | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  const position = parseFeedPosition(lastEventId);
  if (position === undefined) {
    throw new ParleyError('invalid_request', 'Last-Event-ID must be the id of an event of this stream.');
  }
  return position;
}

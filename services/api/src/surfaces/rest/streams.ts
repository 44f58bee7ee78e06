import { randomUUID } from 'node:crypto';
import { UserId } from '@parley/shared/domain/elicitations/ask-input';
import { ParleyError } from '@parley/shared/domain/errors';
import { type FeedPosition, parseFeedPosition } from '@parley/shared/domain/events';
import { isReferenceId } from '@parley/shared/domain/ids';
import { notFound } from '@parley/shared/elicitations/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { InboxItem } from '@parley/shared/elicitations/inbox';
import type { StreamItem } from '@parley/shared/elicitations/watch';
import { z } from 'zod';
import { onLeaving } from '../../http/leaving.ts';
import type { CallLimits } from '../../http/limits.ts';
import { ownerOf } from '../../http/reply.ts';
import { type Route, route } from '../../http/route.ts';
import type { SseEvent } from '../../http/sse.ts';

const Events = { description: 'Server-sent events; data is JSON', events: true } as const;

/** The event streams of the hub API. */
export function streamRoutes(engine: Engine, limits: CallLimits): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/streams/:streamRequestId/events',
      who: ['user', 'service'],
      summary: 'Follow a stream request',
      description:
        'Events elicitation-request, elicitation-updated, elicitation-resolved and stream-reset, in order, without the answer. Resumes after Last-Event-ID on any pod.',
      headers: { 'Last-Event-ID': 'Replay what came after this event.' },
      query: z.strictObject({ userId: UserId.optional().describe('Required for a service.') }),
      replies: { 200: Events },
      async handle({ caller, params, query, header, signal, admitted }) {
        const stream = {
          ...ownerOf(caller, query.userId),
          streamRequestId: referenceOf(params.streamRequestId),
        };
        const after = positionOf(header('last-event-id'));
        await admitted;
        const leave = onLeaving(signal, await limits.stream(caller, randomUUID()));
        try {
          const items = await engine.watch({
            stream,
            evenIfSilent: caller.kind === 'service',
            signal,
            ...(after !== undefined && { after }),
          });
          return { type: 'events', events: mapped(items, streamEvent, leave, signal) };
        } catch (error) {
          leave();
          throw error;
        }
      },
    }),
    route({
      method: 'GET',
      path: '/v1/inbox/events',
      who: ['user'],
      summary: 'Follow what waits for you',
      description:
        'An inbox-snapshot first, then elicitation-request, elicitation-updated and elicitation-resolved.',
      replies: { 200: Events },
      async handle({ caller, signal }) {
        const owner = ownerOf(caller, undefined);
        const leave = onLeaving(signal, await limits.stream(caller, randomUUID()));
        return {
          type: 'events',
          events: mapped(engine.watchInbox({ owner, signal }), inboxEvent, leave, signal),
        };
      },
    }),
  ];
}

function streamEvent(item: StreamItem): SseEvent {
  switch (item.type) {
    case 'reset':
      return { event: 'stream-reset', data: {} };
    case 'elicitation':
      return { id: item.id, event: item.event, data: item.elicitation };
    case 'other':
      return { id: item.id, event: item.event.type, data: item.event };
  }
}

function inboxEvent(item: InboxItem): SseEvent {
  return item.type === 'snapshot'
    ? { event: 'inbox-snapshot', data: { elicitations: item.elicitations } }
    : { event: item.event, data: item.elicitation };
}

/** Turns items into events; gives the place back when the reader is done, however that came. */
async function* mapped<Item>(
  items: AsyncIterable<Item>,
  toEvent: (item: Item) => SseEvent,
  leave: () => void,
  signal: AbortSignal,
): AsyncGenerator<SseEvent, void> {
  try {
    for await (const item of items) yield toEvent(item);
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    leave();
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

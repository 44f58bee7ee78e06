import { isRecord } from '@parley/core/domain/plain-record';
import { acceptsType } from '../../../http/headers/accept.ts';
import type { Reply, RouteCall } from '../../../http/route.ts';
import { podDraining } from '../../../turns/start.ts';
import { isResponse, RPC, refusal } from '../json-rpc.ts';

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

/** What the SDK requires of each client, although one of them is enough. */
export const BOTH_TYPES = `${JSON_TYPE}, ${EVENTS_TYPE}`;

/** The forms of a reply that a client takes. */
export interface Taken {
  readonly json: boolean;
  readonly events: boolean;
}

/** What the client of a request takes, by its `Accept`. */
export function takenBy({ header }: Pick<RouteCall, 'header'>): Taken {
  const accept = header('accept');
  return { json: acceptsType(accept, JSON_TYPE), events: acceptsType(accept, EVENTS_TYPE) };
}

/** Refuses a client that takes nothing of what a request can be replied with. */
export function notAcceptable(
  call: Pick<RouteCall, 'body'>,
  needed = `${JSON_TYPE} or ${EVENTS_TYPE}`,
): Reply {
  return refusal(call, 406, RPC.transport, `Accept must admit ${needed}.`);
}

/** Refuses a client that takes no events, where only those can come. */
export function noEvents(call: Pick<RouteCall, 'body'>): Reply {
  return notAcceptable(call, EVENTS_TYPE);
}

/** The response among the events of a whole stream. Throws when the stream was cut before it. */
export function responseIn(events: string): unknown {
  const lines = events.split('\n').filter((line) => line.startsWith('data: {'));
  const response = lines.map((line): unknown => JSON.parse(line.slice('data: '.length))).find(isResponse);
  if (response === undefined) throw podDraining();
  return response;
}

/** A successful reply for a client that takes no JSON: its response as the only event. */
export function asEvent(reply: Reply): Reply {
  if (reply.type !== 'json' || reply.status !== 200 || !isRecord(reply.body)) return reply;
  return {
    type: 'text',
    status: 200,
    body: eventText(reply.body),
    headers: { ...EVENT_HEADERS, ...reply.headers },
  };
}

/** A message as an event. */
export function eventText(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}

export const EVENT_HEADERS = {
  'content-type': `${EVENTS_TYPE}; charset=utf-8`,
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};

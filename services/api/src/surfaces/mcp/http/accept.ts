import { isRecord } from '@parley/core/domain/plain-record';
import { acceptsType } from '../../../http/headers/accept.ts';
import type { Reply, RouteCall } from '../../../http/route.ts';
import { podDraining } from '../../../turns/start.ts';
import { isResponse, RPC, refusal } from '../json-rpc.ts';

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

/** The SDK requires both types of each client, although one of them is enough. */
export const BOTH_TYPES = `${JSON_TYPE}, ${EVENTS_TYPE}`;

/** The forms of a reply that a client accepts. */
export interface Taken {
  readonly json: boolean;
  readonly events: boolean;
}

/** The forms that the client of a request accepts, according to `Accept`. */
export function takenBy({ header }: Pick<RouteCall, 'header'>): Taken {
  const accept = header('accept');
  return { json: acceptsType(accept, JSON_TYPE), events: acceptsType(accept, EVENTS_TYPE) };
}

/** Refuses a client that accepts none of the possible forms of a reply. */
export function notAcceptable(
  call: Pick<RouteCall, 'body'>,
  needed = `${JSON_TYPE} or ${EVENTS_TYPE}`,
): Reply {
  return refusal(call, 406, RPC.transport, `Accept must admit ${needed}.`);
}

/** Refuses a client that accepts no events, for a reply that consists of events. */
export function noEvents(call: Pick<RouteCall, 'body'>): Reply {
  return notAcceptable(call, EVENTS_TYPE);
}

/** The response among the events of a whole stream. Throws if the stream was cut before the response. */
export function responseIn(events: string): unknown {
  const lines = events.split('\n').filter((line) => line.startsWith('data: {'));
  const response = lines.map((line): unknown => JSON.parse(line.slice('data: '.length))).find(isResponse);
  if (response === undefined) throw podDraining();
  return response;
}

/** For a client that does not accept JSON: a successful reply as a stream with the response as its only event. */
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

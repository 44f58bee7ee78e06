/**
 * The calls about elicitations that all clients make, with the paths and bodies of the HTTP API. Retries and tokens are in
 * `transport.ts`.
 */

import type { Elicitation } from './domain/elicitations/elicitation.ts';
import type { Status } from './domain/elicitations/status.ts';
import { createInboxReader, type InboxItem, type StreamItem, streamItemOf } from './events.ts';
import { type FollowEventsOptions, followEvents } from './follow.ts';
import { createRandomId } from './random-id.ts';
import { type ElicitationPage, parseElicitation, parsePage } from './replies.ts';
import { type HttpCall, pathSegment, type RequestOptions, type Transport } from './transport.ts';

export interface CallOptions {
  /** Ends the call with the signal's reason. A question that was already asked is not withdrawn. */
  readonly signal?: AbortSignal;
}

/** A person's act on a question. `content` belongs to an accepted form; `responseId` is created when absent. */
export type Answer = { readonly responseId?: string } & (
  | {
      readonly action: 'accept';
      readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
    }
  | { readonly action: 'decline' | 'cancel' }
);

export interface PageQuery {
  /** Lists only elicitations with one of these statuses. */
  readonly status?: Status | readonly Status[] | undefined;
  /** The owner; required for a service. */
  readonly userId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** The number of elicitations in a page, 1 to 100. @default 50 */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export type CallTimeLimits = RequestOptions & { readonly signal?: AbortSignal | undefined };

export const ELICITATIONS_PATH = '/v1/elicitations';

/** The path of one elicitation, or of an action on it. Throws `not_found` for a text that cannot be an id. */
export function elicitationPath(
  elicitationId: string,
  action: '' | '/response' | '/complete' | '/wait' = '',
): string {
  return `${ELICITATIONS_PATH}/${pathSegment(elicitationId)}${action}`;
}

// The calls are functions, not methods of one object, so that a bundle contains only those that it uses. They reject with the
// errors of the transport's `request`.

export async function readElicitation(
  transport: Transport,
  elicitationId: string,
  { signal, ...limits }: CallTimeLimits = {},
): Promise<Elicitation> {
  const call = { method: 'GET', path: elicitationPath(elicitationId), signal } as const;
  return parseElicitation(await transport.request(call, limits));
}

/** Reads one page, newest first. */
export async function listElicitations(
  transport: Transport,
  { status, limit, ...filter }: PageQuery,
  { signal, ...limits }: CallTimeLimits = {},
): Promise<ElicitationPage> {
  const query = {
    status: status === undefined ? undefined : [status].flat().join(','),
    limit: limit === undefined ? undefined : String(limit),
    ...filter,
  };
  const call = { method: 'GET', path: ELICITATIONS_PATH, query, signal } as const;
  return parsePage(await transport.request(call, limits));
}

/** Sends one answer. Every try carries the same `responseId`, so the answer counts once. */
export async function sendAnswer(
  transport: Transport,
  elicitationId: string,
  answer: Answer,
  { signal, keepalive, ...limits }: CallTimeLimits & Pick<HttpCall, 'keepalive'> = {},
): Promise<Elicitation> {
  const path = elicitationPath(elicitationId, '/response');
  const body = { ...answer, responseId: answer.responseId ?? createRandomId() };
  const call = { method: 'POST', path, body, keepalive, signal } as const;
  // The reply is checked within the try, so that `isRetryable` also decides about a reply that does not come from Parley.
  return parseElicitation(await transport.request(call, { ...limits, checkReply: parseElicitation }));
}

/** Follows a stream request from its start, or after `lastEventId`, and reconnects as often as necessary. */
export async function* followStream(
  transport: Transport,
  streamRequestId: string,
  { userId, ...options }: FollowEventsOptions & { readonly userId?: string | undefined },
): AsyncGenerator<StreamItem, void> {
  const path = `/v1/streams/${pathSegment(streamRequestId)}/events`;
  for await (const event of followEvents(transport, { path, query: { userId } }, options)) {
    yield streamItemOf(event);
  }
}

/** Follows the open elicitations of the token's owner, and reconnects as often as necessary. */
export async function* followInbox(
  transport: Transport,
  options: FollowEventsOptions,
): AsyncGenerator<InboxItem, void> {
  const read = createInboxReader();
  for await (const event of followEvents(transport, { path: '/v1/inbox/events' }, options)) {
    const item = read(event);
    if (item !== undefined) yield item;
  }
}

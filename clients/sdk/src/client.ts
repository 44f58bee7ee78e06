import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import type { FormContent } from '@parley/shared/domain/forms/answer';
import { ParleyClientError } from './errors.ts';
import {
  followInbox,
  followStream,
  type InboxItem,
  type InboxOptions,
  type StreamItem,
  type StreamOptions,
} from './events.ts';
import { createList, type ElicitationList, type ListFilter } from './list.ts';
import { mintToken } from './mint.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import type { AnswerTo, Question } from './question.ts';
import { elicitationIn } from './reply.ts';
import { RETRY_DEFAULTS, type RetryOptions } from './retry.ts';
import { type Call, createTransport, segmentOf, type TokenSource } from './transport.ts';

export interface ClientOptions {
  /** Where Parley is, with a path if it lies below one. In a browser it may be relative to the page. */
  readonly baseUrl: string;
  /** A service key to ask with, or a user's token to answer with. A function is called for every request. */
  readonly token: TokenSource;
  /** The global one unless given. */
  readonly fetch?: typeof fetch;
  readonly retry?: RetryOptions;
}

export interface CallOptions {
  /** Ends the call with the signal's reason. It takes nothing back: a question that was asked lives on. */
  readonly signal?: AbortSignal;
}

export interface AskOptions extends CallOptions {
  /** 1 to 255 printable ASCII characters; minted when absent. With a key of yours a restarted asker may repeat. */
  readonly idempotencyKey?: string;
}

/** What a person does with a question. `content` goes with accepting a form only; `responseId` is minted. */
export type Answer = { readonly responseId?: string } & (
  | {
      readonly action: 'accept';
      readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
    }
  | { readonly action: 'decline' | 'cancel' }
);

/** A question on its way. */
export interface Asked<Content> {
  /** As it was created: show it, or keep its `elicitationId` for `outcomeOf`. */
  readonly elicitation: Elicitation;
  /** Waits from now on. Left alone, its failure goes unnoticed. */
  readonly outcome: Promise<Outcome<Content>>;
}

/**
 * Everything a client of Parley can do. Calls are repeated through lost connections, 5xx and 429 for `giveUpMs`, and
 * are safe to repeat; all reject with ParleyClientError.
 */
export interface ParleyClient {
  /**
   * Asks a person and waits for the outcome, through outages and restarts of pods, until the deadline. For services.
   * Rejects with `unavailable` when the outcome cannot be read by the deadline plus `graceMs`.
   *
   * @example
   * const outcome = await client.ask({
   *   userId: 'ada',
   *   mode: 'form',
   *   message: 'Which colour?',
   *   requestedSchema: {
   *     type: 'object',
   *     properties: { colour: { type: 'string', enum: ['red', 'blue'] } },
   *     required: ['colour'],
   *   },
   * });
   * if (outcome.status === 'accepted') paint(outcome.content.colour); // 'red' | 'blue'
   */
  ask<const Asks extends Question>(question: Asks, options?: AskOptions): Promise<Outcome<AnswerTo<Asks>>>;
  /**
   * Asks, and returns as soon as the question exists. For services.
   *
   * @example
   * const { elicitation, outcome } = await client.start(question);
   * await save(elicitation.elicitationId);
   * await outcome;
   */
  start<const Asks extends Question>(question: Asks, options?: AskOptions): Promise<Asked<AnswerTo<Asks>>>;
  /**
   * Waits for a question asked earlier, say by a process that is gone. For services.
   *
   * @example
   * const outcome = await client.outcomeOf<ContentOf<typeof schema>>(elicitationId);
   */
  outcomeOf<Content = FormContent | undefined>(
    elicitationId: string,
    options?: CallOptions,
  ): Promise<Outcome<Content>>;
  /** Reads an elicitation. */
  get(elicitationId: string, options?: CallOptions): Promise<Elicitation>;
  /**
   * Answers, as the person it is for. When the reply is lost it is sent again with the same `responseId`, so that it
   * counts once. Errors: `invalid_answer`, `already_settled`, `expired`.
   *
   * @example
   * await client.answer(elicitationId, { action: 'accept', content: { colour: 'red' } });
   */
  answer(elicitationId: string, answer: Answer, options?: CallOptions): Promise<Elicitation>;
  /** Finishes a url elicitation with server completion. For services. */
  complete(elicitationId: string, options?: CallOptions): Promise<Elicitation>;
  /** Takes a question back; `reason` is a short lower-case word. For services. Errors: `already_settled`, `expired`. */
  withdraw(elicitationId: string, reason?: string, options?: CallOptions): Promise<Elicitation>;
  /**
   * Lists elicitations, newest first.
   *
   * @example
   * for await (const elicitation of client.list({ status: ['pending', 'opened'] })) show(elicitation);
   */
  list(filter?: ListFilter): ElicitationList;
  /**
   * Follows a stream request: in order, without a gap, over reconnects. Ends when the signal is aborted or the loop is
   * left; throws when the stream is refused (`unauthenticated`, `forbidden`, `not_found`).
   *
   * @example
   * for await (const item of client.events(streamRequestId, { signal })) {
   *   if (item.type === 'stream-reset') clear();
   *   else if (item.type === 'elicitation-request') show(item.elicitation);
   * }
   */
  events(streamRequestId: string, options?: StreamOptions): AsyncGenerator<StreamItem, void>;
  /** Follows what waits for the person whose token it is, over reconnects. Ends and throws as `events` does. */
  inbox(options?: InboxOptions): AsyncGenerator<InboxItem, void>;
}

const ROOT = '/v1/elicitations';

/**
 * Makes a client. Opens nothing until it is used.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://parley.example.com', token: serviceKey });
 */
export function createClient(options: ClientOptions): ParleyClient {
  const { baseUrl, token } = options;
  if (typeof token !== 'function' && (typeof token !== 'string' || token === '')) {
    throw new ParleyClientError(
      'unauthenticated',
      'createClient needs a token: a text, or a function that gives one.',
    );
  }
  const retry = { ...RETRY_DEFAULTS, ...options.retry };
  // Called as a plain function: a browser's fetch refuses to be a method of something else.
  const fetch: typeof globalThis.fetch = (input, init) => (options.fetch ?? globalThis.fetch)(input, init);
  const transport = createTransport({ baseUrl, token, fetch, retry });
  const deps = { transport, retry };

  const send = async (call: Call) => elicitationIn(await transport.request(call));
  const pathOf = (id: string, rest = '') => `${ROOT}/${segmentOf(id)}${rest}`;

  const start: ParleyClient['start'] = async (question, { idempotencyKey = mintToken(), signal } = {}) => {
    const headers = { 'idempotency-key': idempotencyKey };
    const elicitation = await send({ method: 'POST', path: ROOT, body: question, headers, signal });
    const outcome = outcomeOf(deps, elicitation, signal) as Promise<Outcome<AnswerTo<typeof question>>>;
    // Whoever awaits it still sees it fail; whoever only wanted the id must not be brought down by it.
    outcome.catch(() => undefined);
    return { elicitation, outcome };
  };
  const get: ParleyClient['get'] = async (id, { signal } = {}) =>
    send({ method: 'GET', path: pathOf(id), signal });

  return {
    start,
    ask: async (question, asking) => (await start(question, asking)).outcome,
    async outcomeOf<Content>(id: string, { signal }: CallOptions = {}) {
      const elicitation = await get(id, signal && { signal });
      return (await outcomeOf(deps, elicitation, signal)) as Outcome<Content>;
    },
    get,
    answer: async (id, answer, { signal } = {}) =>
      send({
        method: 'POST',
        path: pathOf(id, '/response'),
        body: { ...answer, responseId: answer.responseId ?? mintToken() },
        signal,
      }),
    complete: async (id, { signal } = {}) => send({ method: 'POST', path: pathOf(id, '/complete'), signal }),
    withdraw: async (id, reason, { signal } = {}) =>
      send({ method: 'DELETE', path: pathOf(id), body: { reason }, signal }),
    list: (filter = {}) => createList(transport, filter),
    events: (id, options = {}) => followStream(deps, id, options),
    inbox: (options = {}) => followInbox(deps, options),
  };
}

/**
 * The client of Parley: every call that a program makes to ask, answer and follow. Retries are in `clients/core`, and asking
 * over other protocols is in `elicit/`.
 */

import {
  type Answer,
  type AnswerLink,
  type ApprovalChoice,
  answerLinkPath,
  type CallOptions,
  createRandomId,
  createTransport,
  ELICITATIONS_PATH,
  elicitationPath,
  followInbox,
  followStream,
  type InboxItem,
  ParleyClientError,
  parseAnswerLink,
  parseElicitation,
  RETRY_DEFAULTS,
  type RetryOptions,
  readElicitation,
  resolveBaseUrl,
  type StreamItem,
  sendAnswer,
  sendDecision,
  type TokenSource,
} from '@parley/core';
import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { FormContent } from '@parley/core/domain/forms/answer';
import { createList, type ElicitationList, type ListFilter } from './list.ts';
import { type Outcome, waitForOutcome } from './outcome.ts';
import type { AnswerTo, Exact, Question } from './question.ts';
import { formOf, isStandardForm, parseAnswer } from './standard-form.ts';

export interface ClientOptions {
  /** The URL of Parley, including its path if it has one. In a browser it may be relative to the page. */
  readonly baseUrl: string;
  /** A service key, for asking; or a user's token, for answering. A function is called for every request. */
  readonly token: TokenSource;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
  readonly retry?: RetryOptions;
}

export interface AskOptions extends CallOptions {
  /** 1 to 255 printable ASCII characters; created when absent. With its own key, a restarted process may repeat the call. */
  readonly idempotencyKey?: string;
}

export interface AnswerLinkOptions extends CallOptions {
  /** How long the link can be opened, 60 to 86,400; at most until the deadline. @default 3600 */
  readonly expiresInSeconds?: number;
  /** True allows a link for a question with `sensitive: true`. */
  readonly allowSensitive?: boolean;
  /** True allows a link for a call with the `risk` `high`. */
  readonly allowHighRisk?: boolean;
}

export interface InboxOptions {
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
  /** The time without data, heartbeats included, after which a connection counts as lost. @default 45000 */
  readonly heartbeatTimeoutMs?: number;
}

export interface StreamOptions extends InboxOptions {
  /** The owner of the stream; required for a service. */
  readonly userId?: string;
  /** Starts after this event instead of at the beginning. */
  readonly lastEventId?: string;
}

/** A question that has been asked, and its outcome. */
export interface AskedElicitation<Content> {
  /** The new elicitation. Store its `elicitationId` to call `outcomeOf` later. */
  readonly elicitation: Elicitation;
  /**
   * The outcome. Waiting starts when this property is first read, so that a process that only asks can end. A rejection that
   * nobody awaits is ignored.
   */
  readonly outcome: Promise<Outcome<Content>>;
}

/**
 * A client of Parley. A call is retried for up to `giveUpMs` after a lost connection, a 5xx or a 429. Every call is safe to
 * repeat. All calls reject with ParleyClientError.
 */
export interface ParleyClient {
  /**
   * Asks a person and waits for the outcome until the deadline, through outages and restarts of pods. For services.
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
   *
   * The same with zod: `requestedSchema: z.object({ colour: z.enum(['red', 'blue']) })`. Its transformations and
   * refinements apply to the answer. If the schema refuses an answer, the call rejects with `invalid_answer`.
   */
  ask<const Asks extends Question>(
    question: Asks & Exact<Asks>,
    options?: AskOptions,
  ): Promise<Outcome<AnswerTo<Asks>>>;
  /**
   * Asks, and returns as soon as the question exists. For services.
   *
   * @example
   * const { elicitation, outcome } = await client.start(question);
   * await save(elicitation.elicitationId);
   * await outcome;
   */
  start<const Asks extends Question>(
    question: Asks & Exact<Asks>,
    options?: AskOptions,
  ): Promise<AskedElicitation<AnswerTo<Asks>>>;
  /**
   * Waits for the outcome of a question that was asked earlier, for example by another process. For services.
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
   * Answers as the person who was asked. A retry carries the same `responseId`, so the answer counts once. Errors:
   * `invalid_answer`, `already_settled`, `expired`.
   *
   * @example
   * await client.answer(elicitationId, { action: 'accept', content: { colour: 'red' } });
   */
  answer(elicitationId: string, answer: Answer, options?: CallOptions): Promise<Elicitation>;
  /**
   * Decides on a tool call in the person's name. Sending the same decision again is safe. Errors: `invalid_answer`
   * (edited arguments that do not fit the tool's schema), `already_settled`, `expired`.
   *
   * @example
   * await client.decide(approvalId, { decision: 'deny', reason: 'Too expensive.' });
   */
  decide(approvalId: string, choice: ApprovalChoice, options?: CallOptions): Promise<Approval>;
  /** Completes a url elicitation whose `completion` is `server`. For services. */
  complete(elicitationId: string, options?: CallOptions): Promise<Elicitation>;
  /** Withdraws a question; `reason` is a short lower-case code. For services. Errors: `already_settled`, `expired`. */
  withdraw(elicitationId: string, reason?: string, options?: CallOptions): Promise<Elicitation>;
  /**
   * Makes a link to a question or an approval with which one browser acts without a token, and revokes the previous
   * link. For services whose key has the scope `link`. Errors: `forbidden`, `invalid_request`, `already_settled`,
   * `expired`.
   *
   * @example
   * const { url } = await client.createAnswerLink(elicitationId, { expiresInSeconds: 900 });
   * await mail(person, `I have a question for you: ${url}`);
   */
  createAnswerLink(id: string, options?: AnswerLinkOptions): Promise<AnswerLink>;
  /** Revokes the answer link of a question or an approval, even for a browser that has opened it. */
  revokeAnswerLink(id: string, options?: CallOptions): Promise<void>;
  /**
   * Lists elicitations, newest first.
   *
   * @example
   * for await (const elicitation of client.list({ status: ['pending', 'opened'] })) show(elicitation);
   */
  list(filter?: ListFilter): ElicitationList;
  /**
   * Follows a stream request and reconnects as needed, so that events come in order and without gaps. Ends when the
   * signal is aborted or the loop ends; throws when the stream is refused (`unauthenticated`, `forbidden`,
   * `not_found`).
   *
   * @example
   * for await (const item of client.events(streamRequestId, { signal })) {
   *   if (item.type === 'stream-reset') clear();
   *   else if (item.type === 'elicitation-request') show(item.elicitation);
   * }
   */
  events(streamRequestId: string, options?: StreamOptions): AsyncGenerator<StreamItem, void>;
  /** Follows the open elicitations of the token's owner and reconnects as needed. Ends and throws like `events`. */
  inbox(options?: InboxOptions): AsyncGenerator<InboxItem, void>;
}

/**
 * Creates a client. No connection is opened before the first use.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://parley.example.com', token: serviceKey });
 */
export function createClient(options: ClientOptions): ParleyClient {
  const { baseUrl, token } = options;
  if (typeof token !== 'function' && (typeof token !== 'string' || token === '')) {
    throw new ParleyClientError(
      'unauthenticated',
      'createClient needs a token: a string, or a function that returns one.',
    );
  }
  const retry = { ...RETRY_DEFAULTS, ...options.retry };
  const transport = createTransport({ root: resolveBaseUrl(baseUrl), token, fetch: options.fetch, retry });

  const start: ParleyClient['start'] = async (
    question,
    { idempotencyKey = createRandomId(), signal } = {},
  ) => {
    const { requestedSchema } = question as Question;
    const standard = requestedSchema && isStandardForm(requestedSchema) ? requestedSchema : undefined;
    const body = standard === undefined ? question : { ...question, requestedSchema: formOf(standard) };
    const headers = { 'idempotency-key': idempotencyKey };
    const call = { method: 'POST', path: ELICITATIONS_PATH, body, headers, signal } as const;
    const elicitation = parseElicitation(await transport.request(call));
    let waiting: Promise<Outcome<AnswerTo<typeof question>>> | undefined;
    const wait = () => {
      const outcome = waitForOutcome(transport, elicitation, signal).then(async (ended) =>
        standard === undefined || ended.status !== 'accepted'
          ? ended
          : { ...ended, content: await parseAnswer(standard, ended.content) },
      ) as Promise<Outcome<AnswerTo<typeof question>>>;
      // A caller that never awaits the outcome must not see an unhandled rejection.
      outcome.catch(() => undefined);
      return outcome;
    };
    return {
      elicitation,
      get outcome() {
        waiting ??= wait();
        return waiting;
      },
    };
  };

  return {
    start,
    ask: async (question, asking) => (await start(question, asking)).outcome,
    async outcomeOf<Content>(id: string, options: CallOptions = {}) {
      const elicitation = await readElicitation(transport, id, options);
      return (await waitForOutcome(transport, elicitation, options.signal)) as Outcome<Content>;
    },
    get: (id, options) => readElicitation(transport, id, options),
    answer: (id, answer, options) => sendAnswer(transport, id, answer, options),
    decide: (id, choice, options) => sendDecision(transport, id, choice, options),
    async complete(id, { signal } = {}) {
      const path = elicitationPath(id, '/complete');
      return parseElicitation(await transport.request({ method: 'POST', path, signal }));
    },
    async withdraw(id, reason, { signal } = {}) {
      const call = { method: 'DELETE', path: elicitationPath(id), body: { reason }, signal } as const;
      return parseElicitation(await transport.request(call));
    },
    async createAnswerLink(id, { signal, ...body } = {}) {
      const call = { method: 'POST', path: answerLinkPath(id), body, signal } as const;
      return parseAnswerLink(await transport.request(call));
    },
    async revokeAnswerLink(id, { signal } = {}) {
      await transport.request({ method: 'DELETE', path: answerLinkPath(id), signal });
    },
    list: (filter = {}) => createList(transport, filter),
    events: (id, options = {}) => followStream(transport, id, options),
    inbox: (options = {}) => followInbox(transport, options),
  };
}

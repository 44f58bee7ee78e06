import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { type Asked, questionsIn, textOf } from '../../harness/chat/client.ts';
import { SIZE } from '../../harness/load/size.ts';
import { createTestBrowser, headingOf, type Shown } from '../../harness/pages/browser.ts';
import { userToken } from '../../harness/tokens.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { TRACKER } from './agents.ts';
import type { World } from './world.ts';

/** Time limit of each wait; a stream may last twice as long. */
export const WAIT_MS = 60_000 * SIZE.patience;

/** A turn as a stock client shows it. */
export interface Watched {
  readonly message: () => UIMessage | undefined;
  /** The whole message; fails when the turn did, or when it takes too long. */
  readonly done: Promise<UIMessage | undefined>;
  /** The pod that serves it. */
  readonly pod: string;
  /** Drops the connection. */
  leave(): void;
}

export interface Saying {
  readonly agent?: string;
  /** The client's declared elicitation support; `true` by default, undefined for a client without support. */
  readonly supports?: string | undefined;
}

export type Person = Awaited<ReturnType<typeof meet>>;

/** Creates a person with a chat and a browser of their own. Requests go through the load balancer. */
export async function meet(world: World, chatId = 'chat') {
  const userId = world.newName();
  const token = await userToken({ secret: world.secrets.jwt, userId });
  const authorization = `Bearer ${token}`;
  const browser = createTestBrowser({ publicUrl: world.url });
  const codes: string[] = [];

  const chat = (headers: Record<string, string>, id: string, url = world.url) => {
    let pod = '';
    const leaving = leavingInTime();
    const transport = new DefaultChatTransport<UIMessage>({
      api: `${url}/run/api/chat`,
      headers: { authorization, ...headers },
      async fetch(input, init) {
        const response = await globalThis.fetch(input, { ...init, signal: leaving.signal });
        pod = response.headers.get('x-parley-upstream') ?? '';
        return response;
      },
    });
    return { transport, id, pod: () => pod, leave: () => leaving.abort() };
  };

  return {
    userId,
    token,
    authorization,
    browser,
    /** The authorization codes seen so far. */
    codes,
    async say(text: string, { agent, supports = 'true' }: Saying = {}, id = chatId): Promise<Watched> {
      const supporting = supports === 'none' ? {} : { 'x-supports-elicitation': supports };
      const { transport, pod, leave } = chat(supporting, id);
      const sent = transport.sendMessages({
        trigger: 'submit-message',
        chatId: id,
        messageId: undefined,
        messages: [{ id: 'said', role: 'user', parts: [{ type: 'text', text }] }],
        abortSignal: undefined,
        ...(agent !== undefined && { body: { agent } }),
      });
      // The first attempt may have begun the turn although it got a 503.
      const stream = await sent.catch((error: unknown) => {
        if (!String(error).includes('turn_running')) throw error;
        return transport.reconnectToStream({ chatId: id });
      });
      if (stream === null) throw new Error('the turn is over before it was read');
      return watched(stream, pod(), leave);
    },
    /** Resumes the running turn on this pod. */
    async resume({ url, name }: { readonly url: string; readonly name: string }): Promise<Watched> {
      const { transport, leave } = chat({}, chatId, url);
      const stream = await transport.reconnectToStream({ chatId });
      if (stream === null) throw new Error('no turn runs');
      return watched(stream, name, leave);
    },
    async post(path: string, body?: object): Promise<Response> {
      return fetch(`${world.url}${path}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(WAIT_MS),
      });
    },
    answer(elicitationId: string, response: object, id = chatId): Promise<Response> {
      return this.post('/run/api/elicitation-responses', { conversationId: id, elicitationId, ...response });
    },
    /** Gives consent at the provider, starting at the question's page; returns the callback's address. */
    async agree({ url = '' }: Question): Promise<string> {
      const consent = await browser.enter(url, userId);
      const callback = await browser.walk(await browser.submit(consent, 'start'), userId);
      codes.push(new URL(callback).searchParams.get('code') ?? '');
      return callback;
    },
    /** All that a person does to connect an account. */
    async connect(question: Question): Promise<Shown> {
      const shown = await browser.open(await this.agree(question));
      const expected = headingOf({ page: 'done', service: TRACKER });
      if (shown.heading !== expected) throw new Error(`not connected: ${shown.status} ${shown.heading}`);
      return shown;
    },
  };
}

/** Ends a stream that lasts too long. It has its own timer: Node 20 may lose a signal combined from others. */
export function leavingInTime(): AbortController {
  const leaving = new AbortController();
  setTimeout(() => leaving.abort(new Error('the stream has not ended in time')), 2 * WAIT_MS).unref();
  return leaving;
}

export type Question = Asked & { readonly url?: string };

type Stream = Parameters<typeof readUIMessageStream>[0]['stream'];

function watched(stream: Stream, pod: string, leave: () => void): Watched {
  let message: UIMessage | undefined;
  const done = (async () => {
    for await (const grown of readUIMessageStream({ stream, terminateOnError: true })) message = grown;
    return message;
  })();
  // A reader that disconnects expects no result.
  done.catch(() => undefined);
  return { message: () => message, done, pod, leave };
}

/**
 * What has reached the tracker, without the subscriptions to its list of tools: a pod opens one beside its calls and
 * does not wait for the reply, so that one of an earlier turn may arrive at any time.
 */
export function callsSeen({ tracker }: World) {
  const { withoutToken, unauthorized, methods } = tracker.counts();
  const { 'subscriptions/listen': _subscriptions, ...calls } = methods;
  return { withoutToken, unauthorized, calls };
}

/** Waits until the chat shows an open question. */
export function asked({ message }: Watched): Promise<Question> {
  return waitUntil(() => questionsIn(message()).find(({ status }) => status === 'pending'), {
    what: 'the question',
    timeoutMs: WAIT_MS,
  });
}

/** Waits until the chat shows a question, which may have ended by then. */
export function everAsked({ message }: Watched): Promise<Question> {
  return waitUntil(() => questionsIn(message())[0], { what: 'the question', timeoutMs: WAIT_MS });
}

/** Waits until the chat has some text. */
export function begun({ message }: Watched): Promise<boolean> {
  return waitUntil(() => textOf(message()) !== '', { what: 'the first words', timeoutMs: WAIT_MS });
}

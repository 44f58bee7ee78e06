/** A person without a browser, for the demo's story over HTTP. The story itself is in `story-http.ts`. */

import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { type CookieJar, createCookieJar, walkSignIn } from '../stand-ins/authorization-server/walk.ts';
import { waitUntil } from '../test/harness/wait-until.ts';

export interface Question {
  readonly elicitationId: string;
  readonly status: string;
  readonly title?: string;
  readonly url?: string;
}

/** A turn as a standard AI SDK client reads it. */
export interface Turn {
  /** The turn's newest open question. */
  question(): Promise<Question>;
  /** The agent's complete text. */
  readonly answer: Promise<string>;
  /** Disconnects. The turn continues without a reader. */
  leave(): void;
}

/** A person without a browser: a chat client, and cookies for the hosted pages. */
interface HttpPerson {
  say(text: string): Promise<Turn>;
  resume(): Promise<Turn>;
  respond(question: Question, response: object): Promise<void>;
  /** Opens the question's page and acts as a person would: signs in, agrees there, and agrees at the provider. */
  connect(question: Question, name: string): Promise<void>;
}

export function createHttpPerson(url: string, token: string, chatId: string): HttpPerson {
  const headers = { authorization: `Bearer ${token}`, 'x-supports-elicitation': 'true' };
  const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/run/api/chat`, headers });
  return {
    async say(text) {
      const leaving = new AbortController();
      const stream = await transport.sendMessages({
        trigger: 'submit-message',
        chatId,
        messageId: undefined,
        messages: [{ id: 'said', role: 'user', parts: [{ type: 'text', text }] }],
        abortSignal: leaving.signal,
      });
      return turnOf(stream, leaving);
    },
    async resume() {
      const stream = await transport.reconnectToStream({ chatId });
      if (stream === null) throw new Error('There was no running turn to come back to.');
      return turnOf(stream, new AbortController());
    },
    async respond({ elicitationId }, response) {
      const reply = await fetch(`${url}/run/api/elicitation-responses`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ conversationId: chatId, elicitationId, ...response }),
      });
      if (!reply.ok) throw new Error(`The answer was refused with ${reply.status}.`);
    },
    connect: (question, name) => walk(question.url ?? '', name, createCookieJar()),
  };
}

type Stream = Parameters<typeof readUIMessageStream>[0]['stream'];

function turnOf(stream: Stream, leaving: AbortController): Turn {
  let message: UIMessage | undefined;
  const answer = (async () => {
    for await (const grown of readUIMessageStream({ stream, terminateOnError: true })) message = grown;
    return (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
  })();
  // A reader that disconnected gets no answer.
  answer.catch(() => undefined);
  const open = () =>
    (message?.parts ?? [])
      .flatMap((part) => (part.type === 'data-elicitation-request' ? [part.data as Question] : []))
      .find(({ status }) => status === 'pending' || status === 'opened');
  return {
    question: () => waitUntil(open, { what: 'the question', timeoutMs: 30_000 }),
    answer,
    leave: () => leaving.abort(),
  };
}

const STEPS_MAX = 12;
const FORM =
  /<form method="post" action="([^"]+\/(?:sign-in|start))"[^>]*>\s*<input type="hidden" name="csrf" value="([^"]+)">/;

/** Follows Parley's pages until one needs no further step. */
async function walk(start: string, name: string, jar: CookieJar): Promise<void> {
  const { origin } = new URL(start);
  let url = start;
  let body: URLSearchParams | undefined;
  for (let step = 0; step < STEPS_MAX; step += 1) {
    if (new URL(url).origin !== origin) {
      url = await walkSignIn({ url, user: name, jar });
      body = undefined;
      continue;
    }
    const { response, html } = await visit(url, body, jar);
    const next = nextOf(response, html);
    if (next === undefined) {
      if (!/is connected<\/title>/.test(html)) throw new Error(`The walk ended at: ${titleOf(html)}`);
      return;
    }
    url = new URL(next.url, url).href;
    body = next.body;
  }
  throw new Error('The hosted pages lead on and on.');
}

async function visit(url: string, body: URLSearchParams | undefined, jar: CookieJar) {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      cookie: jar.header(url),
      'accept-language': 'en',
      ...(body !== undefined && { origin: new URL(url).origin }),
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(30_000),
    ...(body !== undefined && { body }),
  });
  jar.store(url, response.headers.getSetCookie());
  return { response, html: await response.text() };
}

function nextOf(response: Response, html: string): { url: string; body?: URLSearchParams } | undefined {
  const location = response.headers.get('location');
  if (location !== null) return { url: location };
  const refresh = /<meta http-equiv="refresh" content="0; url=([^"]+)">/.exec(html)?.[1];
  if (refresh !== undefined) return { url: decoded(refresh) };
  const [, action, csrf] = FORM.exec(html) ?? [];
  if (action === undefined || csrf === undefined) return undefined;
  return { url: decoded(action), body: new URLSearchParams({ csrf: decoded(csrf) }) };
}

function titleOf(html: string): string {
  return /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? 'a page without a title';
}

function decoded(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>', apos: "'" };
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, number, word) =>
    number === undefined ? (named[word] ?? whole) : String.fromCodePoint(Number(number)),
  );
}

import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import { EXPIRING_SECONDS, userToken } from '../tokens.ts';
import { waitUntil } from '../wait-until.ts';

export const SECRET = 'a-secret-of-at-least-thirty-two-characters';

let people = 0;
/** Creates a new person with a token. */
export async function person() {
  people += 1;
  const userId = `person-${people}`;
  return { userId, authorization: `Bearer ${await userToken({ secret: SECRET, userId })}` };
}

/** A token of that person that is accepted for a few more seconds. */
export function expiringToken(userId: string): Promise<string> {
  return userToken({ secret: SECRET, userId, expiresInSeconds: EXPIRING_SECONDS });
}

export interface Said {
  readonly authorization: string;
  readonly text: string;
  readonly chatId: string;
  readonly pod?: number;
  readonly supports?: string;
  readonly delivery?: 'hold' | 'detach';
  readonly signal?: AbortSignal;
  /** @default the default agent */
  readonly agent?: string;
}

type Chunks = Parameters<typeof readUIMessageStream>[0]['stream'];

/** A chat as a stock client shows it; the message grows with the stream. */
export interface Watched {
  readonly seen: { message: UIMessage | undefined };
  readonly done: Promise<UIMessage | undefined>;
}

/** Chats with pods, by their number. */
export function createChatClient(urlOf: (pod: number) => string) {
  const transportTo = (pod: number, headers: Record<string, string>, body = {}) =>
    new DefaultChatTransport<UIMessage>({ api: `${urlOf(pod)}/run/api/chat`, headers, body });
  return {
    /** Sends a message as a stock chat client does. */
    async say(said: Said): Promise<Watched> {
      const {
        authorization,
        text,
        chatId,
        pod = 0,
        supports = 'true',
        delivery = 'hold',
        signal,
        agent,
      } = said;
      const headers = { 'x-supports-elicitation': supports, 'x-parley-delivery': delivery };
      const transport = transportTo(pod, { authorization, ...headers }, { agent });
      const stream = await transport.sendMessages({
        trigger: 'submit-message',
        chatId,
        messageId: undefined,
        messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }],
        abortSignal: signal,
      });
      return watched(stream);
    },
    /** Reads a running turn from its start; undefined when none runs. */
    async resume(pod: number, authorization: string, chatId: string): Promise<Watched | undefined> {
      const stream = await transportTo(pod, { authorization }).reconnectToStream({ chatId });
      return stream === null ? undefined : watched(stream);
    },
    read(pod: number, path: string, authorization: string): Promise<Response> {
      return fetch(`${urlOf(pod)}${path}`, { headers: { authorization } });
    },
    post(pod: number, path: string, authorization: string, body?: unknown): Promise<Response> {
      return fetch(`${urlOf(pod)}${path}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    },
  };
}

function watched(stream: Chunks): Watched {
  const seen: { message: UIMessage | undefined } = { message: undefined };
  const done = (async () => {
    for await (const message of readUIMessageStream({ stream, terminateOnError: true }))
      seen.message = message;
    return seen.message;
  })();
  done.catch(() => undefined);
  return { seen, done };
}

export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

export interface Asked {
  readonly elicitationId: string;
  readonly streamRequestId: string;
  readonly status: string;
  readonly message: string;
  readonly context: { readonly agent?: string };
}

/** The questions of a chat as it shows them, in the order of their asking. */
export function questionsIn(message: UIMessage | undefined): Asked[] {
  return (message?.parts ?? []).flatMap((part) =>
    part.type === 'data-elicitation-request' && 'data' in part ? [part.data as Asked] : [],
  );
}

/** The first question that a chat shows. */
export function questionIn(message: UIMessage | undefined): Asked | undefined {
  return questionsIn(message)[0];
}

/** Waits until the chat shows a question; returns its id. */
export async function untilAsked({ seen }: Watched): Promise<string> {
  await waitUntil(() => questionIn(seen.message)?.status === 'pending', { what: 'the question' });
  return questionIn(seen.message)?.elicitationId ?? '';
}

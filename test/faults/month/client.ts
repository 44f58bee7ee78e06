import { type IncomingHttpHeaders, request } from 'node:http';
import { createParser } from 'eventsource-parser';
import { waitUntil } from '../../harness/wait-until.ts';
import { SERVICE_KEY } from './settings.ts';
import type { Stage } from './stage.ts';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

/** An event of an open stream: its name, and its data as far as that is JSON. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly name: string;
  readonly data: Record<string, unknown>;
}

/** A stream that stays open over the leaps of the clock. */
export interface OpenStream {
  readonly status: number;
  readonly events: readonly StreamEvent[];
  /** When it ended, ms; undefined while it is open. */
  readonly endedAt: () => number | undefined;
}

export interface CallMore {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Client = ReturnType<typeof createClient>;

/**
 * Calls the pods in turn, each call over a connection of its own. `fetch` is of no use here: its time limits count the
 * leaps of the clock.
 */
export function createClient({ pods, issuer }: Stage) {
  let calls = 0;

  function send(method: string, path: string, { token = SERVICE_KEY, body, headers = {} }: CallMore) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    calls += 1;
    const url = new URL(path, pods[calls % pods.length]?.url);
    const sending = request(url, {
      method,
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    sending.end(text);
    return sending;
  }

  async function call(method: string, path: string, more: CallMore = {}): Promise<Reply> {
    const sending = send(method, path, more);
    return new Promise((resolve, reject) => {
      sending.once('error', reject).once('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part)).once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(parts).toString();
          const body = text.startsWith('{') ? (JSON.parse(text) as Reply['body']) : { text };
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
        });
      });
    });
  }

  async function stream(method: string, path: string, more: CallMore = {}): Promise<OpenStream> {
    const events: StreamEvent[] = [];
    let endedAt: number | undefined;
    const sending = send(method, path, more);
    return new Promise((resolve, reject) => {
      sending.once('error', reject).once('response', (response) => {
        const parser = createParser({
          onEvent: ({ id, event = '', data }) => {
            if (data.startsWith('{'))
              events.push({ id, name: event, data: JSON.parse(data) as StreamEvent['data'] });
          },
        });
        response.setEncoding('utf8').on('data', (text: string) => parser.feed(text));
        response
          .on('error', () => undefined)
          .once('close', () => {
            endedAt = Date.now();
          });
        resolve({ status: response.statusCode ?? 0, events, endedAt: () => endedAt });
      });
    });
  }

  return {
    call,
    stream,
    /** Asks this user for a word. */
    async ask(userId: string, more: Readonly<Record<string, unknown>> = {}, headers = {}): Promise<string> {
      const requestedSchema = {
        type: 'object',
        properties: { word: { type: 'string' } },
        required: ['word'],
      };
      const body = { userId, mode: 'form', message: 'Which word?', requestedSchema, ...more };
      return String(must(await call('POST', '/v1/elicitations', { body, headers }), 201).body.elicitationId);
    },
    /** Answers as that person, with a token that was just made. */
    async answer(userId: string, id: string, word = 'blue'): Promise<Reply> {
      const body = { action: 'accept', content: { word } };
      return call('POST', `/v1/elicitations/${id}/response`, { token: await issuer.token(userId), body });
    },
    async read(
      id: string,
    ): Promise<{ readonly status: number; readonly state: unknown; readonly content: unknown }> {
      const { status, body } = await call('GET', `/v1/elicitations/${id}`);
      return { status, state: body.status, content: body.content };
    },
    /** Sends a message of a chat; the stream of its turn is open then. */
    async say(
      userId: string,
      conversationId: string,
      text: string,
      { agent = 'helper', supports = 'true', tokenSeconds = 3_600 } = {},
    ): Promise<OpenStream> {
      const body = {
        id: conversationId,
        agent,
        messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }],
      };
      const headers = supports === '' ? {} : { 'x-supports-elicitation': supports };
      return stream('POST', '/run/api/chat', {
        token: await issuer.token(userId, { seconds: tokenSeconds }),
        body,
        headers,
      });
    },
    /** Sends a message and reads the whole reply. */
    async chat(userId: string, conversationId: string, text: string): Promise<string> {
      const turn = await this.say(userId, conversationId, text);
      await waitUntil(() => turn.endedAt() !== undefined, { what: `the end of the turn "${text}"` });
      return textOf(turn);
    },
  };
}

/** The text that the agent wrote in a turn, with the errors of the turn. */
export function textOf({ events }: OpenStream): string {
  return events.map(({ data }) => String(data.delta ?? data.errorText ?? '')).join('');
}

/** The id of the question or approval that a turn asks, once it does. */
export function untilAsked(
  { events }: OpenStream,
  kind: 'elicitation' | 'approval' = 'elicitation',
): Promise<string> {
  const find = () => {
    const found = events.find(({ data }) => data.type === `data-${kind}-request`)?.data.data;
    return found === undefined ? undefined : String((found as Record<string, unknown>)[`${kind}Id`]);
  };
  return waitUntil(find, { what: `the ${kind} of the turn` });
}

/** The reply, which must have this status. */
export function must(reply: Reply, status: number): Reply {
  if (reply.status === status) return reply;
  throw new Error(`${reply.status} in place of ${status}: ${JSON.stringify(reply.body)}`);
}

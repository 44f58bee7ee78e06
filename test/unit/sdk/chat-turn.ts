/** One turn as the server sends it, for the tests of the chat transport. */
import { type ChatTransportOptions, createChatTransport, isChatStreamError } from '@parley/sdk/chat';
import type { UIMessage, UIMessageChunk } from 'ai';
import { afterAll, beforeEach } from 'vitest';
import { type ChatServer, type Line, startChatServer, textOfLines } from '../../harness/chat/chat-server.ts';

export const start: Line = { id: '9-1', data: { type: 'start', messageId: 'm1' } };
export const startStep: Line = { id: '9-2', data: { type: 'start-step' } };
/** One event of the feed: only its last chunk carries its id. */
export const hello: readonly Line[] = [
  { id: '9-2', data: { type: 'text-start', id: 't' } },
  { id: '9-3', data: { type: 'text-delta', id: 't', delta: 'Hello' } },
];
export const world: Line = { id: '9-4', data: { type: 'text-delta', id: 't', delta: ' world' } };
export const end: readonly Line[] = [
  { id: '9-4', data: { type: 'text-end', id: 't' } },
  { id: '9-4', data: { type: 'finish-step' } },
  { id: '9-4', data: { type: 'finish', finishReason: 'stop' } },
  { id: '9-5', data: '[DONE]' },
];
export const whole = [start, startStep, ...hello, world, ...end];
/** The turn up to "Hello". */
export const half = textOfLines([start, startStep, ...hello]);
export const reset: Line = { data: { type: 'data-stream-reset', data: { v: 1 }, transient: true } };

export const said: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] };
export const sent = {
  trigger: 'submit-message' as const,
  chatId: 'c1',
  messageId: undefined,
  messages: [said],
  abortSignal: undefined,
};

export const QUICK = { firstDelayMs: 0, delayMsMax: 0 };

/** Gives up before the second try. */
export const IMPATIENT = { firstDelayMs: 600_000, giveUpMs: 60_000 };

export function transportTo({ url }: ChatServer, more: Partial<ChatTransportOptions> = {}) {
  return createChatTransport({ baseUrl: url, token: 'a-token', retry: QUICK, ...more });
}

/** A server for all tests of a file, transports to it, and the requests of the test that runs. */
export async function serveChats() {
  const server = await startChatServer();
  afterAll(() => server.stop());
  let before = 0;
  beforeEach(() => {
    before = server.calls.length;
  });
  const calls = () => server.calls.slice(before);
  return {
    server,
    calls,
    /** Method, path and Last-Event-ID of each. */
    made: () => calls().map(({ method, path, headers }) => [method, path, headers['last-event-id']]),
    transportWith: (more: Partial<ChatTransportOptions> = {}) => transportTo(server, more),
  };
}

export async function chunksIn(chunks: ReadableStream<UIMessageChunk> | null): Promise<UIMessageChunk[]> {
  const all: UIMessageChunk[] = [];
  for await (const chunk of chunks ?? []) all.push(chunk);
  return all;
}

export const chunksOf = (lines: readonly Line[]) =>
  lines.map(({ data }) => data).filter((data) => data !== '[DONE]');

export const POST = ['POST', '/run/api/chat', undefined];
export const get = (id?: string) => ['GET', '/run/api/chat/c1/stream', id];

/** Why a call fails: the reason of a ChatStreamError, or any other error itself. */
export async function failureOf(call: Promise<unknown>): Promise<unknown> {
  const error = await errorOf(call);
  return isChatStreamError(error) ? error.reason : error;
}

export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

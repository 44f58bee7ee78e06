import { parseFeedPosition } from '@parley/core/domain/events';
import { createChatTransport, isChatStreamError } from '@parley/sdk/chat';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import type { UIMessage, UIMessageChunk } from 'ai';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import { type Move, stream } from '../../harness/chat/chat-server.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import { sized } from '../../harness/proof-size.ts';
import { chunksOf, encodeAll, replaying } from '../../harness/turns/read.ts';
import { stories } from '../../harness/turns/turns.ts';
import { serveChats } from './chat-turn.ts';

const { server } = await serveChats();

/** How one connection is cut: how much of the turn existed when it was opened, and after which part of its bytes. */
interface Cut {
  readonly known: number;
  readonly part: number;
}

const part = fc.double({ min: 0, max: 1, noNaN: true });
const cuts: fc.Arbitrary<Cut[]> = fc
  .tuple(fc.array(part, { maxLength: 6 }), fc.array(part, { minLength: 6, maxLength: 6 }))
  .map(([known, parts]) =>
    known.sort((a, b) => a - b).map((each, at) => ({ known: each, part: parts[at] ?? 1 })),
  );

const sent = new Set<unknown>();

/** A connection as a pod serves it. A replay omits what was superseded when it began; the first reply to a message is no replay. */
function served(items: readonly WatchItem[], { known, part }: Cut, isCut: boolean): Move {
  return (res, call) => {
    const after = parseFeedPosition(String(call.headers['last-event-id'] ?? ''));
    const replay = replaying(items.slice(0, Math.ceil(known * items.length)));
    const key = call.headers['idempotency-key'];
    const isFirst = call.method === 'POST' && !sent.has(key);
    sent.add(key);
    const reader = isFirst ? { after: undefined } : { ...replay, after };
    const { bytes, next } = encodeAll(createAiSdkEncoder(reader.after), items, reader);
    const text = Buffer.from(bytes);
    if (isCut) stream(text.subarray(0, Math.floor(part * text.length)), 'cut')(res, call);
    else stream(text, next === 'end' ? 'end' : 'cut')(res, call);
  };
}

/** The same turn over one connection that is not cut, without this transport. */
async function uncut(items: readonly WatchItem[]): Promise<PlainChat> {
  const { frames } = encodeAll(createAiSdkEncoder(), items, replaying(items));
  const chunks = chunksOf({ frames }) as UIMessageChunk[];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const chat = new PlainChat({
    transport: { sendMessages: async () => stream, reconnectToStream: async () => null },
  });
  await chat.sendMessage({ text: 'hello' });
  return chat;
}

/** A step that is written again after it only thought leaves its sign, which has no text, with readers who saw it. */
function endOf({ messages, status, error }: PlainChat) {
  const reply = messages.slice(1).map((message) => ({ ...message, parts: withoutThinking(message.parts) }));
  return { reply, status, error: error?.message };
}

function withoutThinking(parts: UIMessage['parts']): UIMessage['parts'] {
  const rest = parts.filter(({ type }) => type !== 'reasoning');
  return rest.filter(({ type }, at) => {
    const follows = rest[at + 1]?.type;
    return type !== 'step-start' || (follows !== undefined && follows !== 'step-start');
  });
}

let chats = 0;
async function cutChat(items: readonly WatchItem[], at: readonly Cut[], attached: boolean) {
  server.will(...at.map((cut) => served(items, cut, true)));
  server.always(served(items, { known: 1, part: 1 }, false));
  const before = server.calls.length;
  const transport = createChatTransport({
    baseUrl: server.url,
    token: 'a-token',
    retry: { firstDelayMs: 0, delayMsMax: 0 },
  });
  chats += 1;
  const chat = new PlainChat({ id: `chat-${chats}`, transport });
  if (attached) transport.attach(chat);
  await chat.sendMessage({ text: 'hello' });
  await chat.untilSettled();
  while (isChatStreamError(chat.error, 'stream-reset')) await chat.resumeStream();
  return { chat, calls: server.calls.slice(before) };
}

it.each([
  ['with a chat that is attached', true],
  ['with one that resumes by itself', false],
])('whatever is cut, the reply is that of an uncut stream, %s', async (_how, attached) => {
  await fc.assert(
    fc.asyncProperty(stories({ restarts: true }), cuts, async ({ items }, at) => {
      const { chat, calls } = await cutChat(items, at, attached);
      expect(endOf(chat)).toEqual(endOf(await uncut(items)));
      // The message is repeated until an event of its turn arrives, and never after that.
      const posts = calls.findLastIndex(({ method }) => method === 'POST') + 1;
      expect(calls.slice(0, posts).map(({ method }) => method)).toEqual(Array(posts).fill('POST'));
      expect(new Set(calls.slice(0, posts).map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    }),
    { numRuns: sized(100) },
  );
});

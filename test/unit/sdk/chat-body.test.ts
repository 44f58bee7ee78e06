import type { UIMessage } from 'ai';
import { expect, it } from 'vitest';
import { stream, textOfLines } from '../../harness/chat/chat-server.ts';
import { chunksIn, sent, serveChats, transportTo, whole } from './chat-turn.ts';

/** The server's limits. */
const BYTES_MAX = 262_144;
const MESSAGES_MAX = 1_000;

const { server } = await serveChats();

function message(
  id: string,
  role: UIMessage['role'],
  text: string,
  more: UIMessage['parts'] = [],
): UIMessage {
  return { id, role, parts: [...more, { type: 'text', text }] };
}

/** The body that the server receives. */
async function postedOf(messages: UIMessage[], messageId?: string) {
  server.will(stream(textOfLines(whole)));
  await chunksIn(await transportTo(server).sendMessages({ ...sent, messages, messageId }));
  const body = server.calls.at(-1)?.body as {
    messages: Pick<UIMessage, 'role' | 'parts'>[];
    messageId?: string;
  };
  const posted = body.messages;
  return { body, posted, bytes: Buffer.byteLength(JSON.stringify(body)) };
}

const textsOf = (posted: readonly Pick<UIMessage, 'parts'>[]) =>
  posted.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));

it('contains the text of earlier messages without tool outputs: six turns with 48 kB of output fit', async () => {
  const output = 'x'.repeat(48_000);
  const tool: UIMessage['parts'] = [
    {
      type: 'dynamic-tool',
      toolName: 'list_issues',
      toolCallId: 'call',
      state: 'output-available',
      input: {},
      output,
    },
  ];
  const turns = Array.from({ length: 6 }, (_, n) => [
    message(`u${n}`, 'user', `list ${n}`),
    message(`m${n}`, 'assistant', `listed ${n}`, tool),
  ]).flat();
  const last = message('u', 'user', 'thanks');
  const { posted, bytes } = await postedOf([...turns, last]);
  expect(bytes).toBeLessThan(2_000);
  expect(textsOf(posted)).toEqual([...textsOf(turns), 'thanks']);
  expect(posted.map(({ role }) => role)).toEqual([...turns, last].map(({ role }) => role));
  expect(new Set(posted.flatMap(({ parts }) => parts.map(({ type }) => type)))).toEqual(new Set(['text']));
  expect(posted.at(-1)).toEqual(last);
});

it('contains decisions that were not sent yet, and the id of a message that is continued with them', async () => {
  const approval = { id: 'ap_1', approved: true } as const;
  const decided = { toolCallId: 'call', state: 'approval-responded', approval } as const;
  const call = { type: 'dynamic-tool', toolName: 'pay', input: { amount: 7 }, ...decided } as const;
  const messages = [message('m1', 'assistant', 'One moment.', [call]), message('u2', 'user', 'And?')];
  const { posted } = await postedOf(messages, 'm1');
  expect(posted[0]).toEqual({
    id: 'm1',
    role: 'assistant',
    parts: [
      { type: 'dynamic-tool', ...decided },
      { type: 'text', text: 'One moment.' },
    ],
  });
  const named = (messageId: string) => postedOf(messages, messageId).then(({ body }) => body.messageId);
  expect([await named('m1'), await named('u2')]).toEqual(['m1', undefined]);
});

it('omits system messages and messages without text', async () => {
  const empty: UIMessage = { id: 'e', role: 'assistant', parts: [] };
  const { posted } = await postedOf([message('s', 'system', 'Be brief.'), empty, ...sent.messages]);
  expect(posted).toEqual(sent.messages);
});

it('keeps the newest of many long messages, in order', async () => {
  // Two bytes a letter.
  const long = Array.from({ length: 40 }, (_, n) => message(`u${n}`, 'user', `${n} ${'é'.repeat(3_000)}`));
  const { posted, bytes } = await postedOf([...long, ...sent.messages]);
  const kept = textsOf(posted).slice(0, -1);
  expect(kept).toEqual(textsOf(long).slice(-kept.length));
  expect(kept.length).toBeGreaterThan(10);
  expect(bytes).toBeLessThan(BYTES_MAX / 2);
});

it('keeps the newest of many messages, in order', async () => {
  const many = Array.from({ length: 1_200 }, (_, n) => message(`u${n}`, 'user', `${n}`));
  const { posted } = await postedOf([...many, ...sent.messages]);
  expect(textsOf(posted)).toEqual([...textsOf(many).slice(-200), 'hello']);
  expect(posted.length).toBeLessThan(MESSAGES_MAX);
});

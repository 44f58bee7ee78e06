/** The state machine behind `useChat`, on streams that are cut and replayed. */
import { AbstractChat, type ChatState, type ChatStatus, DefaultChatTransport, type UIMessage } from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAiSdkEncoder } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';
import { createBufferedTurn } from '../../../services/api/src/turns/buffered.ts';
import { createTurnReader } from '../../../services/api/src/turns/follow.ts';
import { encodeAll, replaying } from '../../harness/turns/read.ts';
import {
  asked,
  feed,
  finished,
  question,
  restart,
  said,
  say,
  started,
  step,
} from '../../harness/turns/turns.ts';
import { openSite, type Site } from './encoders-site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

/** What `useChat` keeps in React's state, kept in memory. */
class Chat extends AbstractChat<UIMessage> {
  constructor(url: string) {
    let messages: UIMessage[] = [];
    const state: ChatState<UIMessage> = {
      status: 'ready' as ChatStatus,
      error: undefined,
      get messages() {
        return messages;
      },
      set messages(next) {
        messages = next;
      },
      pushMessage: (message) => {
        messages = [...messages, message];
      },
      popMessage: () => {
        messages = messages.slice(0, -1);
      },
      replaceMessage: (index, message) => {
        messages = messages.with(index, message);
      },
      snapshot: (value) => structuredClone(value),
    };
    super({ id: 'c1', state, transport: new DefaultChatTransport({ api: url }) });
  }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const appended = [
  started,
  step(0),
  say('a', 'void'),
  asked(question('el_1')),
  restart(0),
  step(0),
  say('b', 'kept'),
  said('b'),
  finished,
];

it('is cut off by a restart, and resumes without the superseded text', async () => {
  const chat = new Chat(site.url);
  const items = feed(appended);
  const live = encodeAll(createAiSdkEncoder(), items);
  expect(live.next).toBe('cut');
  site.serve(live.bytes, { cut: true });
  await chat.sendMessage({ text: 'Hi' });
  expect(chat.status).toBe('error');
  expect(chat.lastMessage?.parts).toContainEqual(expect.objectContaining({ text: 'void' }));

  const replay = encodeAll(createAiSdkEncoder(), items, replaying(items));
  expect(replay.next).toBe('end');
  site.serve(replay.bytes);
  await chat.resumeStream();
  expect(chat.status).toBe('ready');
  expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
  const turn = createBufferedTurn();
  const read = createTurnReader();
  for (const event of items.flatMap((item) => read(item))) turn.take(event);
  expect(plain(chat.lastMessage)).toEqual(plain(turn.message()));
});

it('goes through a turn with a question, and ends ready', async () => {
  const chat = new Chat(site.url);
  const items = feed([
    started,
    step(0),
    say('a', 'I need to know.'),
    asked(question('el_1')),
    asked(question('el_1', 'accepted', { action: 'accept' }), 'elicitation-resolved'),
    finished,
  ]);
  site.serve(encodeAll(createAiSdkEncoder(), items).bytes);
  await chat.sendMessage({ text: 'Hi' });
  expect(chat.status).toBe('ready');
  const questions = chat.lastMessage?.parts.filter(({ type }) => type === 'data-elicitation-request');
  expect(questions).toMatchObject([{ id: 'el_1', data: { v: 1, status: 'accepted' } }]);
});

it('shows the error of a turn that failed', async () => {
  const chat = new Chat(site.url);
  const items = feed([started, { type: 'turn-failed', code: 'model_failed', message: 'The model is away.' }]);
  site.serve(encodeAll(createAiSdkEncoder(), items).bytes);
  await chat.sendMessage({ text: 'Hi' });
  expect(chat.status).toBe('error');
  expect(chat.error?.message).toBe('The model is away.');
});

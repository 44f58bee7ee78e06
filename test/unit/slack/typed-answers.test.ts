import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { bucketOf } from '@parley/core/domain/ids';
import { expect, it } from 'vitest';
import { slackKind } from '../../../services/api/src/surfaces/slack/delivery/kind.ts';
import { requestApproval } from '../../harness/engines/approvals.ts';
import { askQuestion, newOwner, newStream } from '../../harness/engines/questions.ts';
import { readable } from '../../harness/slack/person.ts';
import { newTs } from '../../harness/slack/state.ts';
import { appInEnterprise, turnsThatBegin } from './app.ts';

const THREAD = '1700000000.000100';
const CONVERSATION = { conversationId: `slack.T1.D1.${THREAD}` };
const SIZES = {
  type: 'string',
  oneOf: [
    { const: 's', title: 'Small' },
    { const: 'l', title: 'Large' },
  ],
};

const NUMBERS = {
  type: 'string',
  oneOf: ['0', '1'].map((value) => ({ const: value, title: `${+value + 1}` })),
};
/** “ab” is two titles without case, and a value. */
const ALIKE = {
  type: 'string',
  oneOf: [
    { const: 'x', title: 'AB' },
    { const: 'y', title: 'Ab' },
    { const: 'ab', title: 'Other' },
  ],
};
const FORWARD = { attachments: [{ is_share: true, author_name: 'Grace', text: 'The blue one' }] };

const form = (...fields: object[]): Partial<AskInput> => ({
  mode: 'form',
  title: 'Your order',
  requestedSchema: {
    type: 'object',
    properties: Object.fromEntries(fields.map((field, index) => [`field${index}`, field])),
    required: ['field0'],
  } as never,
});

/** The app, and a thread in which its person is asked. */
async function askedInThread(...asked: Partial<AskInput>[]) {
  const begun: unknown[] = [];
  const app = await appInEnterprise({ turns: turnsThatBegin((input) => begun.push(input)) });
  const { deps, engine, owner, slack } = app;
  const ids: string[] = [];
  const ask = async (one: Partial<AskInput>, ts?: string) => {
    const { id } = (await askQuestion(engine, newStream(owner), { ...CONVERSATION, ...one })).row;
    ids.push(id);
    if (ts !== undefined) await deps.places.putPosted(owner, id, { channel: 'D1', ts });
  };
  for (const one of asked) await ask(one, newTs());
  const read = async () => {
    const rows = await Promise.all(ids.map((id) => engine.read({ kind: 'user', ...owner }, id)));
    return rows.map(({ row }) => [row.status, row.settlement?.content] as const);
  };
  return {
    ...app,
    ask,
    begun,
    read,
    told: () => slack.messages.map(readable).join(),
    write: (text: string, given: object = {}, id = `Ev${newTs()}`) =>
      app.say(text, { thread_ts: THREAD, ...given }, { event_id: id }),
  };
}

it.each<[string, object, string, unknown]>([
  ['a text', { type: 'string' }, 'The blue one &amp; the red', 'The blue one & the red'],
  ['an address', { type: 'string', format: 'email' }, '<mailto:a@b.example|a@b.example>', 'a@b.example'],
  ['a link', { type: 'string', format: 'uri' }, '<https://a.example|a.example>', 'https://a.example'],
  ['a number', { type: 'integer' }, '42', 42],
  ['the title of a choice', SIZES, 'large', 'l'],
  ['a title that is another value', NUMBERS, '1', '0'],
  ['the value of a choice', NUMBERS, '0', '0'],
  ['yes', { type: 'boolean' }, 'YES', true],
])('takes %s in the thread of a question as its answer, once', async (_what, field, text, answer) => {
  const { write, read, begun, told } = await askedInThread(form(field));
  const ts = newTs();
  await write(text, { ts }, 'Ev1');
  // As Slack sends an event again that was not acknowledged.
  await write(text, { ts }, 'Ev1');
  expect(await read()).toEqual([['accepted', { field0: answer }]]);
  expect([begun, told()]).toEqual([[], '']);
  await write('Thanks');
  expect(begun).toHaveLength(1);
});

it.each<[string, object, string, string]>([
  ['x', { type: 'string', minLength: 3 }, 'must be at least 3 characters', 'xyz'],
  ['many', { type: 'integer', maximum: 9 }, 'must be a number', '3'],
  ['4.5', { type: 'integer' }, 'must be a whole number', '4'],
  ['huge', SIZES, 'must be one of the choices: Small, Large', 'Small'],
  ['ab', ALIKE, 'is more than one of the choices: AB, Ab, Other', 'Other'],
  [
    'the first',
    { type: 'string', enum: Array.from({ length: 90 }, (_, at) => `${at}&&<=>&&`) },
    'must be one of the choices: 0&amp;&amp;',
    '1&amp;&amp;&lt;=&gt;&amp;&amp;',
  ],
])(
  'says what the check of a form has against “%s”, and keeps the question open',
  async (wrong, field, said, right) => {
    const { write, read, begun, told } = await askedInThread(form(field));
    await write(wrong);
    expect(await read()).toEqual([['pending', undefined]]);
    expect(told()).toContain(said);
    expect(told()).toContain('Your order');
    await write(right);
    expect((await read())[0]?.[0]).toBe('accepted');
    expect(begun).toEqual([]);
  },
);

it.each<[string, Partial<AskInput>[], string[]]>([
  [
    'a form of two fields',
    [form({ type: 'string' }, { type: 'string' })],
    ['Your order', '*Answer* or *Decline*'],
  ],
  ['several choices', [form({ type: 'array', items: { type: 'string', enum: ['a', 'b'] } })], ['*Answer*']],
  ['a sensitive form', [{ ...form({ type: 'string' }), sensitive: true }], ['Your order', '*Decline*']],
  ['an address', [{ mode: 'url', url: 'https://pages.example/one' }], ['*Open pages.example*']],
  ['two questions', [form(SIZES), form(SIZES)], ['These still wait', '*Small*, *Large* or *Decline*']],
])('names what is open and its buttons where a text cannot answer %s', async (_what, asked, said) => {
  const { write, read, begun, told } = await askedInThread(...asked);
  await write('Small');
  expect((await read()).every(([status]) => status === 'pending')).toBe(true);
  for (const one of said) expect(told()).toContain(one);
  expect(begun).toEqual([]);
});

it.each<[string, string, object]>([
  ['a forwarded message alone', '', FORWARD],
  ['a forwarded message with words', 'This one', FORWARD],
])('takes %s for no answer, and says so', async (_what, text, given) => {
  const { write, read, begun, told } = await askedInThread(form({ type: 'string' }));
  await write(text, given);
  expect(await read()).toEqual([['pending', undefined]]);
  expect(told()).toContain('*Answer* or *Decline*');
  expect(begun).toEqual([]);
});

it.each<[string, (ts: string) => string | undefined]>([
  ['was posted later', () => newTs()],
  ['is not posted yet', () => undefined],
  ['was posted at the same time', (ts) => ts],
])(
  'takes no text for the answer to a question that %s, also where Slack sends the text again',
  async (_what, postedAt) => {
    const { ask, write, read, begun, told } = await askedInThread();
    const ts = newTs();
    await write('Please deploy', { ts }, 'Ev1');
    await ask(form({ type: 'string' }), postedAt(ts));
    await write('Please deploy', { ts }, 'Ev1');
    await write('Wait', { ts: '1700000001.000000' });
    expect(await read()).toEqual([['pending', undefined]]);
    expect(told()).toBe('');
    expect(begun).toHaveLength(3);
  },
);

it('answers one question with a message that two pods take at once', async () => {
  const { ask, deps, write, read } = await askedInThread(form({ type: 'string' }));
  const ts = '2000000000.000000';
  const { answered } = deps.places;
  let isFirst = true;
  deps.places.answered = async (...input) => {
    const found = await answered(...input);
    if (isFirst) {
      isFirst = false;
      await write('blue', { ts }, 'Ev1');
      await ask(form({ type: 'string' }), newTs());
    }
    return found;
  };
  await write('blue', { ts }, 'Ev1');
  expect((await read()).map(([status]) => status)).toEqual(['accepted', 'pending']);
});

it('says nothing of an answer that comes again with other names', async () => {
  const { slack, write, read, told } = await askedInThread(form({ type: 'string' }));
  const ts = newTs();
  await write('Ask <@U2>', { ts }, 'Ev1');
  slack.names.set('U2', 'Grace');
  await write('Ask <@U2|Grace>', { ts }, 'Ev1');
  expect(await read()).toEqual([['accepted', { field0: 'Ask @U2' }]]);
  expect(told()).toBe('');
});

it('never decides on a call by a text', async () => {
  const { deps, engine, owner, write, told, begun } = await askedInThread();
  const { row } = await requestApproval(engine, newStream(owner), CONVERSATION);
  await deps.places.putPosted(owner, row.id, { channel: 'D1', ts: newTs() });
  await write('Approve');
  expect((await engine.approvals.read({ kind: 'user', ...owner }, row.id)).row.status).toBe('pending');
  expect(told()).toContain('bookings_cancel');
  expect(told()).toContain('*Deny*');
  expect(begun).toEqual([]);
});

it('takes no answer of another person in the thread, nor one outside of it', async () => {
  const { deps, write, read, begun } = await askedInThread(form({ type: 'string' }));
  await deps.links.add({ enterpriseId: 'E1', teamId: 'T1', userId: 'U2' }, newOwner());
  await write('Mine', { user: 'U2' });
  await write('Else', { thread_ts: undefined });
  expect(await read()).toEqual([['pending', undefined]]);
  expect(begun).toHaveLength(2);
});

it('takes an answer in the thread of a notice', async () => {
  const { engine, deps, owner, slack, write, read, told } = await askedInThread();
  const notify = { channel: 'slack' as const, afterSeconds: 0 };
  const { row } = await askQuestion(engine, newStream(owner), form({ type: 'string' }));
  const elicitations: typeof deps.elicitations = {
    async read(id) {
      const { row: found, now } = await deps.elicitations.read(id);
      return { row: found && { ...found, definition: { ...found.definition, notify } }, now };
    },
  };
  const task = { kind: 'slack', subject: row.id, bucket: bucketOf(owner) };
  expect(await slackKind({ ...deps, elicitations }).handle(task, 1)).toBe('done');
  const [notice] = slack.messages;
  await write('x', { channel: notice?.channel, thread_ts: notice?.ts });
  const seen = await engine.read({ kind: 'user', ...owner }, row.id);
  expect(seen.row.settlement?.content).toEqual({ field0: 'x' });
  expect([await read(), told()]).toEqual([[], readable(notice as never)]);
});

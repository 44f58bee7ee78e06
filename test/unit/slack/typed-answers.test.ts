import type { AskInput } from '@parley/shared/domain/elicitations/ask-input';
import { bucketOf } from '@parley/shared/domain/ids';
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
  const { engine, owner, slack } = app;
  const ids: string[] = [];
  for (const one of asked)
    ids.push((await askQuestion(engine, newStream(owner), { ...CONVERSATION, ...one })).row.id);
  const read = async () => {
    const rows = await Promise.all(ids.map((id) => engine.read({ kind: 'user', ...owner }, id)));
    return rows.map(({ row }) => [row.status, row.settlement?.content] as const);
  };
  return {
    ...app,
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

it.each<[object, string, string, string]>([
  [{ type: 'string', minLength: 3 }, 'x', 'must be at least 3 characters', 'xyz'],
  [{ type: 'integer', maximum: 9 }, 'many', 'must be a number', '3'],
  [{ type: 'integer' }, '4.5', 'must be a whole number', '4'],
  [SIZES, 'huge', 'must be one of the choices: Small, Large', 'Small'],
])(
  'says what the check of %j has against “%s”, and keeps the question open',
  async (field, wrong, said, right) => {
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

it('never decides on a call by a text', async () => {
  const { engine, owner, write, told, begun } = await askedInThread();
  const { row } = await requestApproval(engine, newStream(owner), CONVERSATION);
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

import { PassThrough } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestApproval } from '../../harness/engines/approvals.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { beginSession, errorOf, modern, modernExchange, SHOWS_ALL } from '../../harness/mcp-clients/raw.ts';
import { ANSWER_PAGE_URL, type McpSite, openMcpSite } from '../../harness/mcp-clients/setup.ts';
import { listOpenOf, newPerson, openQuestion, type Person } from '../../harness/protocols/pods.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const CARD = 'ui://parley/call';
const HTML = '<!doctype html><title>The card</title>';
const TRUSTED = 'host-that-may-approve';
const APPS = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } };

let site: McpSite;
beforeAll(async () => {
  site = await openMcpSite(
    { card: { html: HTML, approveIn: new Set([TRUSTED]) } },
    { elicitationAnswers: 3, userWrites: 1_000 },
  );
});
afterAll(() => site?.stop());

type Result = Readonly<Record<string, unknown>> & {
  readonly isError?: boolean;
  readonly structuredContent?: Readonly<Record<string, never>>;
};
type Send = (
  method: string,
  params: object,
) => Promise<{ readonly result?: Result; readonly error?: object }>;
interface HostOptions {
  readonly person?: Person;
  readonly capabilities?: object;
  readonly clientId?: string;
}

/** What a host sends for its model and its card, at a pod after the other. */
const HOSTS = {
  '2026-07-28': async ({ person = newPerson(), capabilities = APPS, clientId }: HostOptions = {}) => {
    let at = 0;
    const more = clientId === undefined ? undefined : { 'x-client-id': clientId };
    const send: Send = async (method, params) => {
      const pod = site.pods[at++ % 2] ?? site.pods[0];
      const request = modern(method, params as Record<string, unknown>, capabilities);
      const { messages } = await modernExchange(pod.url, person, request, more);
      return messages.at(-1) ?? {};
    };
    return hostOf(person, send);
  },
  '2025-11-25': async ({ person = newPerson(), capabilities = APPS, clientId }: HostOptions = {}) => {
    let at = 0;
    const session = await beginSession(site.pods[0].url, person, capabilities);
    const headers = clientId === undefined ? undefined : { 'x-client-id': clientId };
    const send: Send = async (method, params) => {
      const pod = site.pods[at++ % 2] ?? site.pods[0];
      const body = { jsonrpc: '2.0', id: `${method}-${at}`, method, params };
      const { messages } = await session.exchange(pod.url, body, headers && { headers });
      return messages.at(-1) ?? {};
    };
    return hostOf(person, send);
  },
};

function hostOf(person: Person, send: Send) {
  const call = async (name: string, args: object) => {
    const { result, error } = await send('tools/call', { name, arguments: args });
    return result ?? { error };
  };
  /** The card of one call of the agent. */
  const card = (message: string) => ({
    waiting: (shown: readonly string[] = []) =>
      call('parley_waiting', { tool: 'helper', arguments: { message }, shown }),
    answer: (id: string, response: object) =>
      call('parley_answer', { tool: 'helper', arguments: { message }, id, response }),
  });
  return { person, send, call, card, ask: (message: string) => call('helper', { message }) };
}

const GREEN = { action: 'accept', content: { answer: 'green' } };
const state = (result: object) => (result as Result).structuredContent as never as Record<string, unknown>;

describe.each(Object.entries(HOSTS))('a host that shows apps, %s,', (_revision, open) => {
  it('is given the card with each tool, and the tools that the card alone calls', async () => {
    const { send } = await open();
    const { result } = await send('tools/list', {});
    const tools = result?.tools as unknown as { readonly name: string; readonly _meta?: unknown }[];
    expect(tools.map(({ name, _meta }) => [name, _meta])).toEqual([
      ['helper', { ui: { resourceUri: CARD } }],
      ['parley_waiting', { ui: { resourceUri: CARD, visibility: ['app'] } }],
      ['parley_answer', { ui: { resourceUri: CARD, visibility: ['app'] } }],
    ]);
    const read = await send('resources/read', { uri: CARD });
    const csp = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] };
    const shown = { uri: CARD, mimeType: 'text/html;profile=mcp-app', text: HTML };
    expect(read.result?.contents).toEqual([{ ...shown, _meta: { ui: { csp, prefersBorder: false } } }]);
  });

  it('lists what its call waits for, records the answer of the card, and joins the call again', async () => {
    const host = await open();
    const message = 'text: in the card';
    const card = host.card(message);
    expect(state(await card.waiting())).toMatchObject({ state: 'unknown', questions: [] });
    const told = await host.ask(message);
    expect(told).toMatchObject({ isError: true, _meta: { 'parley/call': { tool: 'helper' } } });
    const { state: now, questions } = state(await card.waiting()) as {
      readonly state: string;
      readonly questions: readonly [{ readonly elicitationId: string }];
    };
    const [{ elicitationId: id }] = questions;
    expect(JSON.stringify(told)).toContain(`${ANSWER_PAGE_URL}${id}`);
    expect([now, questions]).toEqual([
      'waiting',
      [expect.objectContaining({ mode: 'form', status: 'pending' })],
    ]);
    const wrong = await card.answer(id, { action: 'accept', content: { answer: 7 } });
    expect(wrong).toMatchObject({ isError: true, structuredContent: { code: 'invalid_answer' } });
    const answered = await card.answer(id, GREEN);
    expect(state(answered)).toMatchObject({
      elicitation: { status: 'accepted', settledBy: { surface: 'mcp' } },
    });
    expect(state(await card.answer(id, GREEN))).toMatchObject({ elicitation: { status: 'accepted' } });
    const late = await card.answer(id, { action: 'decline' });
    expect(late).toMatchObject({ isError: true, structuredContent: { code: 'rate_limited' } });
    await waitUntil(async () => state(await card.waiting()).state === 'ended', { what: 'the end' });
    expect(state(await card.waiting([id, 'el_unknown']))).toMatchObject({
      questions: [{ status: 'accepted' }],
    });
    expect(JSON.stringify(await host.ask(message))).toContain('green');
  });

  it('tells how far its call has come, in words that are safe to show', async () => {
    const host = await open();
    const message = 'steps: one after the other';
    const steps = new PassThrough({ objectMode: true });
    site.steps.set(message, steps);
    const card = host.card(message);
    const result = host.ask(message);
    const untilProgress = (what: string, progress: object) =>
      waitUntil(
        async () => {
          const now = state(await card.waiting());
          return now.state === 'working' && isDeepStrictEqual(now.progress, progress);
        },
        { what },
      );
    try {
      await untilProgress('the tool', { tool: 'steps' });
      for (const [said, shown] of [
        [{ progress: 1 }, undefined],
        [{ progress: 2, total: 3, message: 'Copying' }, undefined],
        [
          { progress: 3, total: 3, message: `a\u202eb\n\tc ${'x'.repeat(600)}` },
          { progress: 3, total: 3, message: `a[U+202E]b c ${'x'.repeat(486)}…` },
        ],
      ] as const) {
        steps.write(said);
        await untilProgress(JSON.stringify(said), shown ?? said);
      }
    } finally {
      steps.end();
    }
    expect(JSON.stringify(await result)).toContain('done');
    expect(state(await card.waiting())).not.toHaveProperty('progress');
  });

  it('is given the page in place of a form that is sensitive and of a page of the asker, and decides neither', async () => {
    const host = await open();
    const message = 'page: twice';
    const card = host.card(message);
    await host.ask(message);
    const { engine } = site.pods[0];
    const { definition } = await openQuestion(engine, host.person);
    const { tenant, userId, streamRequestId, conversationId } = definition;
    const requestedSchema = { type: 'object', properties: { answer: { type: 'string' } } };
    const form = { mode: 'form', message: 'Which number?', requestedSchema, sensitive: true } as const;
    const input = { ...form, userId, streamRequestId, conversationId, timeoutSeconds: 600 };
    await engine.ask({ tenant, input: { ...input, context: { trigger: 'agent' } } });
    const questions = state(await card.waiting()).questions as { elicitationId: string }[];
    expect(questions).toHaveLength(2);
    for (const { elicitationId: id, ...question } of questions) {
      const url = `${ANSWER_PAGE_URL}${id}`;
      expect(question).toMatchObject({ mode: 'url', url });
      expect(question).not.toHaveProperty('requestedSchema');
      const text = `This is not decided by a call of a tool: the user decides on the page. ${url}`;
      for (const response of [{ action: 'accept' }, { action: 'decline' }, GREEN])
        expect(await card.answer(id, response)).toMatchObject({
          isError: true,
          content: [{ text }],
          structuredContent: { code: 'page_required', url },
        });
    }
    expect(await listOpenOf(engine, host.person, ['pending'])).toHaveLength(2);
  });

  it.each([
    ['another user', () => ({ person: newPerson() })],
    [
      'another tenant',
      ({ person }: { person: Person }) => ({ person: { ...newPerson(), userId: person.userId } }),
    ],
    ['another client', ({ person }: { person: Person }) => ({ person, clientId: 'another' })],
    [
      'a client that shows more',
      ({ person }: { person: Person }) => ({ person, capabilities: { ...APPS, ...SHOWS_ALL } }),
    ],
  ])('shows nothing of it to %s, and takes no answer from there', async (_who, as) => {
    const host = await open({ clientId: 'own' });
    const message = 'text: mine alone';
    await host.ask(message);
    const { id } = await openQuestion(site.pods[0].engine, host.person);
    const other = (await open(as(host))).card(message);
    expect(state(await other.waiting([id]))).toMatchObject({ state: 'unknown', questions: [] });
    expect(await other.answer(id, GREEN)).toMatchObject({ structuredContent: { code: 'not_found' } });
    // Nor does the card of another call of the same client.
    await host.ask('text: another');
    const wrong = host.card('text: another');
    expect(await wrong.answer(id, GREEN)).toMatchObject({ structuredContent: { code: 'not_found' } });
    expect(state(await wrong.waiting([id]))).not.toMatchObject({ questions: [{ elicitationId: id }] });
    await answerQuestion(site.pods[0].engine, host.person, id, 'decline');
  });

  it.each([
    [undefined, 'page_required', 'pending'],
    ['another', 'page_required', 'pending'],
    [TRUSTED, undefined, 'approved'],
  ])('with a token of the client %s decides on approvals: %s', async (clientId, code, status) => {
    const host = await open(clientId === undefined ? {} : { clientId });
    const message = 'text: with an approval';
    const card = host.card(message);
    await host.ask(message);
    const { definition } = await openQuestion(site.pods[0].engine, host.person);
    const { streamRequestId, conversationId } = definition;
    const { row } = await requestApproval(
      site.pods[0].engine,
      { ...host.person, streamRequestId },
      { conversationId },
    );
    const waiting = state(await card.waiting());
    const isTrusted = code === undefined;
    expect(waiting.approvals).toEqual(isTrusted ? [expect.objectContaining({ approvalId: row.id })] : []);
    const url = `${ANSWER_PAGE_URL}${row.id}`;
    expect(waiting.elsewhere).toEqual(isTrusted ? [] : [{ id: row.id, text: expect.any(String), url }]);
    const decided = await card.answer(row.id, { decision: 'approve' });
    expect(state(decided)).toMatchObject(isTrusted ? { approval: { status } } : { code, status: 403, url });
    const caller = { kind: 'user', tenant: host.person.tenant, userId: host.person.userId } as const;
    expect((await site.pods[1].engine.approvals.read(caller, row.id)).row.status).toBe(status);
    const shown = isTrusted ? [expect.objectContaining({ approvalId: row.id, status })] : [];
    expect(state(await card.waiting([row.id])).approvals).toEqual(shown);
  });

  it('refuses what is not well formed', async () => {
    const { call } = await open();
    for (const [name, args] of [
      ['parley_waiting', {}],
      ['parley_waiting', { tool: 'helper', shown: Array.from({ length: 21 }, () => 'el_x') }],
      ['parley_answer', { tool: 'helper', id: 'el_x' }],
      ['parley_answer', { tool: 'helper', id: 'el_x', response: {}, approve: true }],
    ] as const)
      expect(await call(name, args)).toMatchObject({
        isError: true,
        structuredContent: { code: 'invalid_request', status: 400 },
      });
  });

  it('that shows none has no card and no tools of it', async () => {
    const { send, call } = await open({ capabilities: SHOWS_ALL });
    const { result } = await send('tools/list', {});
    expect(result?.tools).toEqual([expect.not.objectContaining({ _meta: expect.anything() })]);
    for (const name of ['parley_waiting', 'parley_answer'])
      expect(await call(name, { tool: 'helper' })).toMatchObject({
        error: { code: -32602, message: `Unknown tool: ${name}` },
      });
    expect((await send('resources/read', { uri: CARD })).error).toMatchObject({ code: -32601 });
  });
});

it('shows the card of a call that its host has as a task', async () => {
  const tasks = { 'io.modelcontextprotocol/tasks': {} };
  const capabilities = { extensions: { ...APPS.extensions, ...tasks } };
  const host = await HOSTS['2026-07-28']({ capabilities });
  const message = 'text: as a task';
  const card = host.card(message);
  const { taskId = '' } = (await host.ask(message)) as { readonly taskId?: string };
  const { id } = await openQuestion(site.pods[0].engine, host.person);
  expect(state(await card.waiting())).toMatchObject({ state: 'waiting', questions: [{ elicitationId: id }] });
  await card.answer(id, GREEN);
  const get = modern('tasks/get', { taskId }, capabilities);
  const ended = await waitUntil(
    async () => {
      const { messages } = await modernExchange(site.pods[1].url, host.person, get, { 'mcp-name': taskId });
      const task = messages.at(-1);
      return task?.result?.status === 'completed' && task;
    },
    { what: 'the result' },
  );
  expect(JSON.stringify(ended)).toContain('green');
});

it('leaves a form to a client that opens its page itself', async () => {
  const host = await HOSTS['2026-07-28']({ capabilities: { ...APPS, elicitation: { url: {} } } });
  const message = 'text: as a page';
  const { inputRequests = {} } = (await host.ask(message)) as Readonly<Record<string, object>>;
  const [id = ''] = Object.keys(inputRequests);
  expect(inputRequests).toMatchObject({ [id]: { params: { mode: 'url', url: `${ANSWER_PAGE_URL}${id}` } } });
  expect(state(await host.card(message).waiting())).toMatchObject({ state: 'waiting', questions: [] });
});

it('has no card where the page was not built', async () => {
  const plain = await openMcpSite();
  try {
    const reply = await modernExchange(plain.pods[0].url, newPerson(), modern('tools/list', {}, APPS));
    expect(errorOf(reply)).toBeUndefined();
    expect(reply.messages.at(-1)?.result?.tools).toHaveLength(1);
  } finally {
    await plain.stop();
  }
});

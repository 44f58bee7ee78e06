import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  beginSession,
  callMessage,
  exchange,
  initializeMessage,
  modern,
  modernCall,
  type RpcMessage,
  readReply,
  send,
} from '../../harness/mcp-clients/raw.ts';
import {
  ANSWER_PAGE_URL,
  BODY_BYTES_MAX,
  type McpSite,
  newPerson,
  openMcpSite,
  type Person,
  UNANSWERED_MS,
} from '../../harness/mcp-clients/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let site: McpSite;
let [first, second] = ['', ''];
beforeAll(async () => {
  site = await openMcpSite();
  [first = '', second = ''] = site.pods.map(({ url }) => url);
});
afterAll(() => site?.stop());

const errorOf = ({ messages }: { readonly messages: readonly RpcMessage[] }) => messages.at(-1)?.error;

/** The question that a person has open, once it is there. */
async function questionOf({ tenant, userId }: Person, status: 'pending' | 'opened' = 'pending') {
  const engine = site.pods[0]?.engine;
  const list = async () =>
    (await engine?.list({ owner: { tenant, userId }, statuses: [status], limit: 5 }))?.rows ?? [];
  await waitUntil(async () => (await list()).length > 0, { what: 'the question' });
  return (await list())[0]?.id ?? '';
}

/** Reads the events of a call until one contains the text, and leaves. */
async function readUntil(reply: Response, text: string): Promise<string> {
  const reader = reply.body?.getReader();
  let seen = '';
  while (!seen.includes(text)) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    seen += new TextDecoder().decode(value);
  }
  await reader?.cancel();
  return seen;
}

const lastIdIn = (events: string) =>
  events
    .match(/^id: .*$/gm)
    ?.at(-1)
    ?.slice(4) ?? '';

describe('authorization', () => {
  it('refuses a request without a valid token, and names where to get one', async () => {
    const none = await exchange(first, initializeMessage());
    expect(none.status).toBe(401);
    const metadata = 'https://parley.example/.well-known/oauth-protected-resource/run/v1/mcp';
    expect(none.headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`);
    const wrong = await exchange(first, initializeMessage(), { token: 'forged' });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(errorOf(wrong)).toMatchObject({ data: { code: 'unauthenticated' } });
  });

  it('serves the metadata of the resource to everybody', async () => {
    const reply = await fetch(`${second}/.well-known/oauth-protected-resource/run/v1/mcp`);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({
      resource: 'https://parley.example/run/v1/mcp',
      authorization_servers: ['https://issuer.example'],
    });
  });

  it('refuses pages of other origins, whatever their host says', async () => {
    const { token } = newPerson();
    const from = (origin: string, host?: string) =>
      exchange(first, initializeMessage(), {
        token,
        headers: { origin, ...(host !== undefined && { host }) },
      });
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost:3000',
      'https://page.example.evil',
    ])
      expect((await from(origin)).status).toBe(403);
    expect((await from('https://page.example')).status).toBe(200);
  });

  it("shows nobody another person's session [MCP25-34 MCP25-45 SEC-02 SEC-04]", async () => {
    const [alice, mallory] = [newPerson(), newPerson()];
    const session = await beginSession(first, alice);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await exchange(second, list, { token: alice.token, headers: session })).status).toBe(200);
    for (const [method, body] of [
      ['POST', list],
      ['POST', callMessage(2, 'hello')],
      ['POST', { jsonrpc: '2.0', method: 'notifications/initialized' }],
      ['POST', { jsonrpc: '2.0', id: 'el_00x', result: { action: 'accept' } }],
      ['GET', undefined],
      ['DELETE', undefined],
    ] as const) {
      const reply = await exchange(second, body, { token: mallory.token, headers: session, method });
      expect([reply.status, errorOf(reply)?.code]).toEqual([404, -32001]);
    }
    for (const id of ['x', '../record', 'A'.repeat(32), `${session['mcp-session-id'].slice(0, -1)}!`]) {
      const headers = { ...session, 'mcp-session-id': id };
      expect((await exchange(first, list, { token: alice.token, headers })).status).toBe(404);
    }
  });
});

describe('a session', () => {
  it('exists on every pod until it is ended [T25-10 T25-12]', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    expect(headers['mcp-session-id']).toMatch(/^[A-Za-z0-9_-]{32}$/);
    const list = { jsonrpc: '2.0', id: 'a', method: 'tools/list' };
    const listed = await exchange(second, list, { token, headers });
    expect(listed.messages).toMatchObject([{ id: 'a', result: { tools: [{ name: 'helper' }] } }]);
    expect(
      (await exchange(second, { jsonrpc: '2.0', id: 1, method: 'ping' }, { token, headers })).messages,
    ).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect((await exchange(second, undefined, { token, headers, method: 'DELETE' })).status).toBe(204);
    expect((await exchange(first, list, { token, headers })).status).toBe(404);
    expect((await exchange(first, list, { token })).status).toBe(400);
  });

  it('speaks only its revisions, and no batches', async () => {
    const person = newPerson();
    const { token } = person;
    const old = await exchange(first, initializeMessage({}, '2024-11-05'), { token });
    expect(old.messages[0]?.result).toMatchObject({ protocolVersion: '2025-11-25' });
    const headers = await beginSession(first, person);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const wrong = { ...headers, 'mcp-protocol-version': '1999-01-01' };
    expect((await exchange(first, list, { token, headers: wrong })).status).toBe(400);
    const batch = await exchange(first, [list, list], { token, headers });
    expect([batch.status, errorOf(batch)?.code]).toEqual([400, -32600]);
    const unknown = await exchange(first, { ...list, method: 'tools/burn' }, { token, headers });
    expect([unknown.status, errorOf(unknown)?.code]).toEqual([200, -32601]);
    const tool = await exchange(
      first,
      { ...callMessage(3, 'x'), params: { name: 'no-such' } },
      { token, headers },
    );
    expect([tool.status, errorOf(tool)?.code]).toEqual([200, -32602]);
    const cursor = await exchange(first, { ...list, params: { cursor: 'forged' } }, { token, headers });
    expect(errorOf(cursor)?.code).toBe(-32602);
  });

  it('takes the level of log messages for a session, on any pod', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const setLevel = (level: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'logging/setLevel',
      params: { level },
    });
    for (const [pod, level] of [
      [first, 'error'],
      [second, 'debug'],
    ] as const) {
      const { messages } = await exchange(pod, setLevel(level), { token, headers });
      expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    }
    const unknown = await exchange(first, setLevel('loud'), { token, headers });
    expect(errorOf(unknown)?.code).toBe(-32602);
  });

  it('continues the stream of a call on another pod without a gap, and its answer goes to any pod [T25-02 T25-05 T25-07]', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const message = callMessage('call-1', 'text work: resumed', { _meta: { progressToken: 7 } });
    const events = await readUntil(await send(first, message, { token, headers }), 'elicitation/create');
    expect(events).toMatch(/^retry: \d+\n\nid: \S+\ndata: \n\n/);
    const elicitationId = await questionOf(person);
    expect(events).toContain(`"id":"${elicitationId}"`);
    const resume = async (lastId: string) =>
      send(second, undefined, { token, headers: { ...headers, 'last-event-id': lastId }, method: 'GET' });
    // Progress comes on the resumed stream, and the question does not come again.
    const waiting = await readUntil(await resume(lastIdIn(events)), 'notifications/progress');
    expect(waiting).not.toContain('elicitation/create');
    const resumed = await resume(lastIdIn(events));
    const result = { action: 'accept', content: { answer: 'green' } };
    const answer = () => exchange(second, { jsonrpc: '2.0', id: elicitationId, result }, { token, headers });
    expect([(await answer()).status, (await answer()).status]).toEqual([202, 202]);
    const { messages } = await readReply(resumed);
    expect(messages.at(-1)).toMatchObject({ id: 'call-1', result: { content: [{ type: 'text' }] } });
    expect(messages.at(-1)?.result?.content?.[0]?.text).toContain('green');
    expect(site.done.get('text work: resumed')).toBe(1);
  });

  it('names the page of a form that its client did not answer for a while, in the progress of the call', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const message = callMessage('call-1', 'text work: unshown', { _meta: { progressToken: 7 } });
    const reply = exchange(first, message, { token, headers });
    const id = await questionOf(person);
    const [pod] = site.pods;
    const isPast = async () => {
      const { row } = (await pod?.engine.read({ kind: 'user', ...person }, id)) ?? {};
      return Date.now() - (row?.createdAt ?? Number.POSITIVE_INFINITY) > 3 * UNANSWERED_MS;
    };
    await waitUntil(isPast, { what: 'the time after which the page is named' });
    await site.pods[1]?.engine.answer({
      caller: { kind: 'user', tenant: person.tenant, userId: person.userId },
      id,
      response: { action: 'accept', content: { answer: 'green' } },
      surface: 'answer-page',
    });
    const texts = (await reply).messages.map((one) => JSON.stringify(one));
    const progress = texts.filter((text) => text.includes('notifications/progress'));
    expect(progress.some((text) => text.includes(`${ANSWER_PAGE_URL}${id}`))).toBe(true);
    expect(progress[0]).not.toContain(ANSWER_PAGE_URL);
    expect(texts.some((text) => text.includes('notifications/cancelled'))).toBe(true);
  });

  it('has the questions of each call on the stream of that call alone [T25-03 T25-04 T25-08 MCP25-21]', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const start = (id: number, message: string) =>
      send(id === 1 ? first : second, callMessage(id, message), { token, headers });
    const form = await readUntil(await start(1, 'text: of its own'), 'elicitation/create');
    const page = await readUntil(await start(2, 'page: of its own'), 'elicitation/create');
    expect([form.includes('"mode":"url"'), page.includes('"mode":"form"')]).toEqual([false, false]);
    const resumed = await send(second, undefined, {
      token,
      headers: { ...headers, 'last-event-id': lastIdIn(page) },
      method: 'GET',
    });
    const { rows = [] } =
      (await site.pods[0]?.engine.list({ owner: person, statuses: ['pending'], limit: 5 })) ?? {};
    for (const { id } of rows)
      await exchange(first, { jsonrpc: '2.0', id, result: { action: 'decline' } }, { token, headers });
    const { messages } = await readReply(resumed);
    expect(messages).toEqual([expect.objectContaining({ id: 2 })]);
  });

  it('asks again on a new stream what is still open, and nothing that has ended', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const reply = await send(first, callMessage(1, 'text page work: again'), { token, headers });
    const events = await readUntil(reply, '"mode":"url"');
    const [start = ''] = events.match(/^id: .*$/m) ?? [];
    const rows = await site.pods[0]?.engine.list({ owner: person, statuses: ['pending'], limit: 5 });
    const form = rows?.rows.find(({ definition }) => definition.mode === 'form')?.id ?? '';
    const page = rows?.rows.find(({ definition }) => definition.mode === 'url')?.id ?? '';
    const result = { action: 'decline' };
    await exchange(second, { jsonrpc: '2.0', id: form, result }, { token, headers });
    const resumed = await send(second, undefined, {
      token,
      headers: { ...headers, 'last-event-id': start.slice(4) },
      method: 'GET',
    });
    const seen = await readUntil(resumed, 'elicitation/create');
    expect(seen).toContain(`"id":"${page}"`);
    expect(seen).not.toContain(`"id":"${form}"`);
    await exchange(second, { jsonrpc: '2.0', id: page, result: { action: 'cancel' } }, { token, headers });
    // The same call again finds its result; then it is another call.
    const joined = await exchange(second, callMessage(2, 'text page work: again'), { token, headers });
    expect(joined.messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ type: 'text' }] } });
    expect(site.done.get('text page work: again')).toBe(1);
  });

  it('stops a call that its client cancels, and none that only timed out', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const cancel = (requestId: number, reason: string) =>
      exchange(
        second,
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } },
        { token, headers },
      );
    await readUntil(
      await send(first, callMessage(1, 'text: kept'), { token, headers }),
      'elicitation/create',
    );
    const kept = await questionOf(person);
    await cancel(1, 'McpError: MCP error -32001: Request timed out');
    const joining = send(second, callMessage(2, 'text: kept'), { token, headers });
    expect(await readUntil(await joining, 'elicitation/create')).toContain(kept);
    await cancel(2, 'The person pressed stop.');
    const engine = site.pods[0]?.engine;
    const read = async () => (await engine?.read({ kind: 'user', ...person }, kept))?.row.status;
    await waitUntil(async () => (await read()) === 'withdrawn', { what: 'the end of the question' });
  });

  it('the cancel of one request leaves alone the call that a later request follows', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const message = 'text: followed';
    await readUntil(await send(first, callMessage(1, message), { token, headers }), 'elicitation/create');
    const id = await questionOf(person);
    const joining = await send(second, callMessage(2, message), { token, headers });
    const params = { requestId: 1, reason: 'The person closed it.' };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params };
    expect((await exchange(first, cancel, { token, headers })).status).toBe(202);
    const result = { action: 'accept', content: { answer: 'green' } };
    await exchange(first, { jsonrpc: '2.0', id, result }, { token, headers });
    const { messages } = await readReply(joining);
    expect(messages.at(-1)?.result?.content?.[0]?.text).toContain('green');
  });

  it('a request id that is used again leaves the equal call of another request alone', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const call = (id: number, message: string) => send(first, callMessage(id, message), { token, headers });
    await readUntil(await call(1, 'text: reused'), 'elicitation/create');
    const other = await readUntil(await call(2, 'text work: other'), 'elicitation/create');
    const [question] = /el_[\w-]+/.exec(other) ?? [];
    const reused = await readReply(await call(1, 'text work: other'));
    expect(errorOf(reused)?.code).toBe(-32602);
    expect(await readUntil(await call(3, 'text work: other'), 'elicitation/create')).toContain(question);
  });

  it('refuses an answer that does not fit, and ignores unknown ones', async () => {
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(first, person);
    const reply = await send(first, callMessage(1, 'text: misfit'), { token, headers });
    await readUntil(reply, 'elicitation/create');
    const id = await questionOf(person);
    const answer = (of: unknown, result: unknown) =>
      exchange(second, { jsonrpc: '2.0', id: of, result }, { token, headers });
    const misfit = await answer(id, { action: 'accept', content: { answer: 7, more: true } });
    expect([misfit.status, errorOf(misfit)?.code]).toEqual([400, -32602]);
    expect(await questionOf(person)).toBe(id);
    const other = `${id.slice(0, -4)}0000`;
    for (const unknown of [other, 'el_', 5, '../x'])
      expect((await answer(unknown, { action: 'accept' })).status).toBe(202);
    const failed = { jsonrpc: '2.0', id, error: { code: -32603, message: 'the client fell over' } };
    expect((await exchange(second, failed, { token, headers })).status).toBe(202);
    const { row } = (await site.pods[0]?.engine.read({ kind: 'user', ...person }, id)) ?? {};
    expect(row?.status).toBe('cancelled');
  });

  it('without a stream is shown urls by an error, and the same call then waits for its end [MCP25-26 MCP25-27 MCP25-28 MCP25-29 MCP25-43]', async () => {
    const person = newPerson();
    const { token } = person;
    const session = await beginSession(first, person);
    const headers = { ...session, accept: 'application/json' };
    const asked = await exchange(first, callMessage(1, 'page work: json'), { token, headers });
    const elicitationId = await questionOf(person);
    expect(errorOf(asked)).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', elicitationId }] },
    });
    await exchange(
      second,
      { jsonrpc: '2.0', id: elicitationId, result: { action: 'accept' } },
      { token, headers },
    );
    const repeating = exchange(second, callMessage(2, 'page work: json'), { token, headers });
    const { tenant } = person;
    await site.pods[1]?.engine.complete({
      caller: { kind: 'service', tenant },
      id: elicitationId,
      surface: 'page',
    });
    expect((await repeating).messages[0]?.result?.content?.[0]?.text).toContain('accepted');
    expect(site.done.get('page work: json')).toBe(1);
    const mute = await beginSession(first, person, { elicitation: { form: {} } });
    const refused = await exchange(first, callMessage(3, 'page: mute'), {
      token,
      headers: { ...mute, accept: 'application/json' },
    });
    expect(errorOf(refused)?.code).not.toBe(-32042);
  });
});

describe('revision 2026-07-28', () => {
  it('answers discovery and lists, and refuses what does not fit together [T26-12]', async () => {
    const { token } = newPerson();
    const discover = modern('server/discover', {});
    const found = await exchange(second, discover.body, { token, headers: discover.headers });
    expect(found.messages[0]?.result).toMatchObject({ capabilities: { tools: {} } });
    const { body, headers } = modern('tools/call', { name: 'helper', arguments: { message: 'hello' } });
    const other = await exchange(first, body, { token, headers: { ...headers, 'mcp-name': 'other' } });
    expect([other.status, errorOf(other)?.code]).toEqual([400, -32020]);
    const unknown = modern('tools/burn', {});
    const burnt = await exchange(first, unknown.body, { token, headers: unknown.headers });
    expect([burnt.status, errorOf(burnt)?.code]).toEqual([404, -32601]);
    const initialize = modern('initialize', {});
    expect(
      errorOf(await exchange(first, initialize.body, { token, headers: initialize.headers }))?.code,
    ).toBe(-32601);
    const bare = await exchange(first, { ...body, params: { name: 'helper' } }, { token, headers });
    expect([bare.status, errorOf(bare)?.code]).toEqual([400, -32602]);
  });

  it('asks in rounds on any pod; a repeated resume reads the finished call [MCP26-12 MCP26-14 MRTR-05 MRTR-06 MRTR-14 T26-07 T26-08]', async () => {
    const person = newPerson();
    const asked = await modernCall(first, person, 'text work: rounds');
    const { resultType, inputRequests = {}, requestState } = asked.message?.result ?? {};
    expect(resultType).toBe('input_required');
    const [id = ''] = Object.keys(inputRequests);
    expect(inputRequests[id]).toMatchObject({ method: 'elicitation/create', params: { mode: 'form' } });
    const misfit = await modernCall(second, person, 'text work: rounds', {
      requestState,
      inputResponses: {
        [id]: { action: 'accept', content: { answer: 5 } },
        el_00unknown: { action: 'accept' },
      },
    });
    expect(Object.keys(misfit.message?.result?.inputRequests ?? {})).toEqual([id]);
    const inputResponses = { [id]: { action: 'accept', content: { answer: 'green' } } };
    const resume = () => modernCall(second, person, 'text work: rounds', { requestState, inputResponses });
    const done = await resume();
    expect(done.message?.result).toMatchObject({ resultType: 'complete' });
    expect(done.message?.result?.content?.[0]?.text).toContain('green');
    expect((await resume()).message?.result?.content).toEqual(done.message?.result?.content);
    expect(site.done.get('text work: rounds')).toBe(1);
  });

  it('after consent to a url waits, then returns the state alone [MCP26-17 MCP26-19 MRTR-15 T26-04]', async () => {
    const person = newPerson();
    const asked = await modernCall(first, person, 'page: consent');
    const { inputRequests = {}, requestState } = asked.message?.result ?? {};
    const [id = ''] = Object.keys(inputRequests);
    const inputResponses = { [id]: { action: 'accept' } };
    const waiting = await modernCall(second, person, 'page: consent', { requestState, inputResponses });
    expect(waiting.message?.result).toMatchObject({ resultType: 'input_required' });
    expect(waiting.message?.result?.inputRequests).toBeUndefined();
    const { tenant } = person;
    await site.pods[0]?.engine.complete({ caller: { kind: 'service', tenant }, id, surface: 'page' });
    const next = { requestState: waiting.message?.result?.requestState };
    const done = await modernCall(first, person, 'page: consent', next);
    expect(done.message?.result?.content?.[0]?.text).toContain('accepted');
  });

  it("refuses a state that is another person's, another call's, changed or expired [MCP26-33 MRTR-11 MRTR-12 MRTR-13 SEC-05]", async () => {
    const [alice, mallory] = [newPerson(), newPerson()];
    const asked = await modernCall(first, alice, 'text: state');
    const requestState = asked.message?.result?.requestState ?? '';
    const [id = ''] = Object.keys(asked.message?.result?.inputRequests ?? {});
    const inputResponses = { [id]: { action: 'accept', content: { answer: 'stolen' } } };
    const [version, body = '', mac = ''] = requestState.split('.');
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { p: object };
    const forged = Buffer.from(JSON.stringify({ ...payload, p: { ...payload.p, until: 9e12 } })).toString(
      'base64url',
    );
    const tries = [
      modernCall(second, mallory, 'text: state', { requestState, inputResponses }),
      modernCall(second, alice, 'text: other', { requestState, inputResponses }),
      modernCall(second, alice, 'text: state', {
        requestState: [version, forged, mac].join('.'),
        inputResponses,
      }),
      modernCall(second, alice, 'text: state', { requestState: `${requestState}x`, inputResponses }),
      modernCall(second, alice, 'text: state', { requestState: 7, inputResponses }),
    ];
    for (const { message } of await Promise.all(tries)) expect(message?.error?.code).toBe(-32602);
    expect(await questionOf(alice)).toBe(id);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    try {
      const late = await modernCall(second, alice, 'text: state', { requestState, inputResponses });
      expect(late.message?.error?.code).toBe(-32602);
    } finally {
      vi.useRealTimers();
    }
    expect(await questionOf(alice)).toBe(id);
  });

  it('refuses a question that the client of this request has not declared [MCP26-08 MRTR-16 T26-03]', async () => {
    const person = newPerson();
    const formOnly = { elicitation: {} };
    const asked = await modernCall(first, person, 'page: undeclared');
    expect(Object.keys(asked.message?.result?.inputRequests ?? {})).toHaveLength(1);
    const { requestState } = asked.message?.result ?? {};
    const refused = await modernCall(second, person, 'page: undeclared', { requestState }, formOnly);
    expect([refused.status, refused.message?.error?.code]).toEqual([400, -32021]);
    expect(refused.message?.error?.data).toMatchObject({
      requiredCapabilities: { elicitation: { url: {} } },
    });
    // The same call of a client that can show less is another call.
    const other = await modernCall(second, person, 'page: undeclared', {}, formOnly);
    expect(other.message?.result).toMatchObject({ resultType: 'complete' });
    const form = await modernCall(first, person, 'text: declared', {}, formOnly);
    expect(Object.values(form.message?.result?.inputRequests ?? {})).toMatchObject([
      { params: { mode: 'form' } },
    ]);
  });

  it('a token that expires ends the request with its state, and the call goes on', async () => {
    const person = newPerson();
    const asked = await modernCall(first, person, 'page: token');
    const { inputRequests = {}, requestState } = asked.message?.result ?? {};
    const [id = ''] = Object.keys(inputRequests);
    const { body, headers } = modern('tools/call', {
      name: 'helper',
      arguments: { message: 'page: token' },
      requestState,
      inputResponses: { [id]: { action: 'accept' } },
      _meta: { progressToken: 1 },
    });
    const expiring = { ...headers, 'x-expires-at': String(Date.now() + 500) };
    const reply = await exchange(second, body, { token: person.token, headers: expiring });
    const waiting = reply.messages.at(-1)?.result;
    expect(waiting).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const { tenant } = person;
    await site.pods[0]?.engine.complete({ caller: { kind: 'service', tenant }, id, surface: 'page' });
    const done = await modernCall(first, person, 'page: token', { requestState: waiting?.requestState });
    expect(done.message?.result?.content?.[0]?.text).toContain('accepted');
  });

  it('stops a call whose request is closed [T26-11]', async () => {
    const person = newPerson();
    const asked = await modernCall(first, person, 'page: closed');
    const { inputRequests = {}, requestState } = asked.message?.result ?? {};
    const [id = ''] = Object.keys(inputRequests);
    const leaving = new AbortController();
    const { body, headers } = modern('tools/call', {
      name: 'helper',
      arguments: { message: 'page: closed' },
      requestState,
      inputResponses: { [id]: { action: 'accept' } },
    });
    const { token } = person;
    const waits = send(second, body, { token, headers, signal: leaving.signal }).catch(() => undefined);
    expect(await questionOf(person, 'opened')).toBe(id);
    leaving.abort();
    await waits;
    const read = async () => (await site.pods[0]?.engine.read({ kind: 'user', ...person }, id))?.row.status;
    await waitUntil(async () => (await read()) === 'withdrawn', { what: 'the end of the call' });
  });
});

it('a stream that is continued takes the place of its broken connection', async () => {
  const small = await openMcpSite({}, { userStreams: 1 });
  try {
    const [one = '', other = ''] = small.pods.map(({ url }) => url);
    const person = newPerson();
    const { token } = person;
    const headers = await beginSession(one, person);
    const broken = await send(one, callMessage(1, 'text: place'), { token, headers });
    const position = Buffer.from(JSON.stringify({ id: 1, at: Date.now() })).toString('base64url');
    const resume = { ...headers, 'last-event-id': `start/${position}` };
    const resumed = await send(other, undefined, { token, headers: resume, method: 'GET' });
    expect(resumed.status).toBe(200);
    expect(await readUntil(resumed, 'elicitation/create')).toContain('Which colour?');
    await broken.body?.cancel();
  } finally {
    await small.stop();
  }
});

describe('bodies', () => {
  it('are refused when they are too large, too deep or no JSON, with an error of JSON-RPC', async () => {
    const { token } = newPerson();
    const headers = { 'mcp-session-id': 'x' };
    const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
    const large = JSON.stringify({ ...callMessage(1, 'x'.repeat(BODY_BYTES_MAX)) });
    const replies = [
      [large, 413, -32000],
      [deep, 400, -32700],
      ['{"jsonrpc":', 400, -32700],
      ['{"__proto__":{}}', 400, -32700],
      ['', 400, -32700],
      ['"text"', 400, -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
    ] as const;
    for (const [body, status, code] of replies) {
      const reply = await exchange(first, body, { token, headers });
      expect([body.slice(0, 20), reply.status, errorOf(reply)?.code]).toEqual([
        body.slice(0, 20),
        status,
        code,
      ]);
    }
    const session = await beginSession(first, newPerson(), {});
    expect(session['mcp-session-id']).not.toBe('');
  });

  it('with a request id that is too long are refused', async () => {
    const person = newPerson();
    const headers = await beginSession(first, person);
    const long = await exchange(first, callMessage('x'.repeat(300), 'hello'), {
      token: person.token,
      headers,
    });
    expect(errorOf(long)?.code).toBe(-32602);
    const forged = {
      ...headers,
      'last-event-id': `1-1/${Buffer.from('{"id":1,"at":0}').toString('base64url')}`,
    };
    for (const lastEventId of [forged['last-event-id'], 'x', '../../etc', `start/${'A'.repeat(5_000)}`]) {
      const reply = await exchange(first, undefined, {
        token: person.token,
        headers: { ...headers, 'last-event-id': lastEventId },
        method: 'GET',
      });
      expect(reply.status).toBe(400);
    }
  });
});

it('a pod that drains gives its waiting calls back, and they go on elsewhere', async () => {
  const person = newPerson();
  const [plain, withProgress] = ['page: drained', 'page: drained with progress'];
  const states = new Map<string, { readonly id: string; readonly requestState: string }>();
  for (const message of [plain, withProgress]) {
    const { inputRequests = {}, requestState = '' } =
      (await modernCall(first, person, message)).message?.result ?? {};
    states.set(message, { id: Object.keys(inputRequests)[0] ?? '', requestState });
  }
  const resume = (message: string) => {
    const { id = '', requestState } = states.get(message) ?? {};
    const inputResponses = { [id]: { action: 'accept' } };
    const _meta = message === withProgress ? { progressToken: 1 } : {};
    return modernCall(second, person, message, { requestState, inputResponses, _meta });
  };
  const waiting = [resume(plain), resume(withProgress)];
  const engine = site.pods[0]?.engine;
  const opened = async () =>
    (await engine?.list({ owner: person, statuses: ['opened'], limit: 5 }))?.rows.length ?? 0;
  await waitUntil(async () => (await opened()) === 2, { what: 'consent' });
  site.pods[1]?.drain();
  for (const [index, message] of [plain, withProgress].entries()) {
    const { message: reply } = (await waiting[index]) ?? {};
    expect(reply?.result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const { tenant } = person;
    const { id = '' } = states.get(message) ?? {};
    await engine?.complete({ caller: { kind: 'service', tenant }, id, surface: 'page' });
    const done = await modernCall(first, person, message, { requestState: reply?.result?.requestState });
    expect(done.message?.result?.content?.[0]?.text).toContain('accepted');
  }
});

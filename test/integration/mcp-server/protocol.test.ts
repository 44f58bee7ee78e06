import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { answerQuestion, userOf } from '../../harness/engines/questions.ts';
import {
  beginSession,
  callMessage,
  errorOf,
  exchange,
  initializeMessage,
  modern,
  modernCall,
  modernExchange,
  type RawSession,
  readReply,
  readUntil,
  send,
  textIn,
} from '../../harness/mcp-clients/raw.ts';
import {
  ANSWER_PAGE_URL,
  type McpSite,
  mcpSurface,
  openMcpSite,
  recordsClock,
} from '../../harness/mcp-clients/setup.ts';
import {
  finishPage,
  listOpenOf,
  newPerson,
  openQuestion,
  type Person,
  serveOn,
} from '../../harness/protocols/pods.ts';
import { BODY_BYTES_MAX } from '../../harness/protocols/served.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let site: McpSite;
let [first, second] = ['', ''];
beforeAll(async () => {
  site = await openMcpSite();
  [first = '', second = ''] = site.pods.map(({ url }) => url);
});
afterAll(() => site?.stop());

/** The id of the question that a person has open, once it is there. */
const questionOf = async (person: Person, status: 'pending' | 'opened' = 'pending') =>
  (await openQuestion(site.pods[0].engine, person, status)).id;
const statusOf = async (person: Person, id: string) =>
  (await site.pods[0].engine.read(userOf(person), id)).row.status;
const isWithdrawn = (person: Person, id: string) =>
  waitUntil(async () => (await statusOf(person, id)) === 'withdrawn', { what: 'the end of the question' });

/** A person with a session, which exists on both pods. */
async function sitDown() {
  const person = newPerson();
  return { person, session: await beginSession(first, person) };
}

const GREEN = { action: 'accept', content: { answer: 'green' } };
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const ASKED = 'elicitation/create';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const PROGRESSING = {
  name: 'helper',
  arguments: { message: 'hello: progress' },
  _meta: { progressToken: 1 },
};

/** What a client sends to cancel a request. */
const cancelOf = (requestId: number, reason: string) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason },
});

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

  it('refuses pages of other origins', async () => {
    const { token } = newPerson();
    const from = (origin: string) => exchange(first, initializeMessage(), { token, headers: { origin } });
    for (const host of ['https://evil.example', 'null', 'http://localhost:3000', 'https://page.example.evil'])
      expect((await from(host)).status).toBe(403);
    expect((await from('https://page.example')).status).toBe(200);
  });

  it("shows nobody another person's session [T25-18 MCP25-34 MCP25-45 SEC-02 SEC-04]", async () => {
    const [alice, mallory] = [newPerson(), newPerson()];
    const { headers, ...session } = await beginSession(first, alice);
    expect((await session.exchange(second, LIST)).status).toBe(200);
    for (const [method, body] of [
      ['POST', LIST],
      ['POST', callMessage(2, 'hello')],
      ['POST', { jsonrpc: '2.0', method: 'notifications/initialized' }],
      ['POST', { jsonrpc: '2.0', id: 'el_00x', result: { action: 'accept' } }],
      ['GET', undefined],
      ['DELETE', undefined],
    ] as const) {
      const reply = await exchange(second, body, { token: mallory.token, headers, method });
      expect([reply.status, errorOf(reply)?.code]).toEqual([404, -32001]);
    }
    for (const id of ['x', '../record', 'A'.repeat(32), `${headers['mcp-session-id'].slice(0, -1)}!`])
      expect((await session.exchange(first, LIST, { headers: { 'mcp-session-id': id } })).status).toBe(404);
  });
});

describe('a session', () => {
  it('exists on every pod until it is ended [T25-10 T25-12 T25-24 T25-34]', async () => {
    const { person, session } = await sitDown();
    expect(session.headers['mcp-session-id']).toMatch(/^[A-Za-z0-9_-]{32}$/);
    const listed = await session.exchange(second, { ...LIST, id: 'a' });
    expect(listed.messages).toMatchObject([{ id: 'a', result: { tools: [{ name: 'helper' }] } }]);
    const pinged = await session.exchange(second, { jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(pinged.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect((await session.exchange(second, undefined, { method: 'DELETE' })).status).toBe(204);
    expect((await session.exchange(first, LIST)).status).toBe(404);
    expect((await exchange(first, LIST, person)).status).toBe(400);
  });

  it('ends with its streams, its calls and their questions, on every pod, and with nothing of another session [T25-23]', async () => {
    const { person, session } = await sitDown();
    const other = await beginSession(second, person);
    const streams = [
      await session.call(first, 1, 'text: left'),
      await session.resume(first, ''),
      await session.call(second, 2, 'text work: followed'),
    ];
    await readUntil(await other.call(first, 1, 'text work: followed'), ASKED);
    const questions = () => listOpenOf(site.pods[0].engine, person);
    await waitUntil(async () => (await questions()).length === 2, { what: 'both questions' });
    expect((await session.exchange(second, undefined, { method: 'DELETE' })).status).toBe(204);
    const [left, standalone] = await Promise.all(streams.slice(0, 2).map((stream) => stream.text()));
    expect(left).toContain('"result":{');
    expect(standalone).not.toContain('data: {');
    const [kept, ...more] = await questions();
    expect(more).toEqual([]);
    const again = await readUntil(await other.call(second, 2, 'text work: followed'), ASKED);
    expect(again).toContain(kept?.id);
    await streams[2]?.body?.cancel();
    expect((await session.exchange(first, callMessage(3, 'hello'))).status).toBe(404);
  });

  it('speaks only its revisions, and no batches [T25-18 T25-26 T25-27 T25-28]', async () => {
    const { person, session } = await sitDown();
    for (const [asked, protocolVersion] of [
      ['2024-11-05', '2025-11-25'],
      ['2025-06-18', '2025-06-18'],
    ] as const) {
      const begun = await exchange(first, initializeMessage({}, asked), person);
      expect(begun.messages[0]?.result).toMatchObject({ protocolVersion });
    }
    const named = { 'mcp-session-id': session.headers['mcp-session-id'] };
    expect((await exchange(second, LIST, { ...person, headers: named })).status).toBe(200);
    const wrong = { headers: { 'mcp-protocol-version': '1999-01-01' } };
    expect((await session.exchange(first, LIST, wrong)).status).toBe(400);
    for (const [body, status, code] of [
      [[LIST, LIST], 400, -32600],
      [{ ...LIST, method: 'tools/burn' }, 200, -32601],
      [{ ...callMessage(3, 'x'), params: { name: 'no-such' } }, 200, -32602],
      [{ ...LIST, params: { cursor: 'forged' } }, 200, -32602],
    ] as const) {
      const reply = await session.exchange(first, body);
      expect([reply.status, errorOf(reply)?.code]).toEqual([status, code]);
    }
  });

  it('takes the level of log messages for a session, on any pod', async () => {
    const { session } = await sitDown();
    const setLevel = (pod: string, level: string) =>
      session.exchange(pod, { jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level } });
    for (const { messages } of [await setLevel(first, 'error'), await setLevel(second, 'debug')])
      expect(messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect(errorOf(await setLevel(first, 'loud'))?.code).toBe(-32602);
  });

  it('continues the stream of a call on another pod without a gap, and its answer goes to any pod [T25-02 T25-05 T25-07 T25-20 T25-21]', async () => {
    const { person, session } = await sitDown();
    const progress = { _meta: { progressToken: 7 } };
    const events = await readUntil(
      await session.call(first, 'call-1', 'text work: resumed', progress),
      ASKED,
    );
    expect(events).toMatch(/^retry: \d+\nid: \S+\ndata: \n\n/);
    const elicitationId = await questionOf(person);
    expect(events).toContain(`"id":"${elicitationId}"`);
    // Progress comes on the resumed stream, and the question does not come again.
    const waiting = await session.resume(second, lastIdIn(events));
    expect(await readUntil(waiting, 'notifications/progress')).not.toContain(ASKED);
    const resumed = await session.resume(second, lastIdIn(events));
    for (const _ of [1, 2]) expect((await session.answer(second, elicitationId, GREEN)).status).toBe(202);
    const { messages } = await readReply(resumed);
    expect(messages.at(-1)).toMatchObject({ id: 'call-1', result: { content: [{ type: 'text' }] } });
    expect(textIn(messages.at(-1))).toContain('green');
    expect(site.done.get('text work: resumed')).toBe(1);
  });

  it('names the page of a form that its client did not answer for a while, in the progress of the call', async () => {
    const { person, session } = await sitDown();
    const reply = await session.call(first, 'call-1', 'text work: unshown', { _meta: { progressToken: 7 } });
    const id = await questionOf(person);
    const page = `${ANSWER_PAGE_URL}${id}`;
    const events = await readUntil(reply, page);
    const progress = events.split('\n').filter((line) => line.includes('notifications/progress'));
    expect(progress.at(-1)).toContain(page);
    expect(progress[0]).not.toContain(ANSWER_PAGE_URL);
    const resumed = await session.resume(second, lastIdIn(events));
    await answerQuestion(site.pods[1].engine, person, id, 'accept', { answer: 'green' });
    const { messages } = await readReply(resumed);
    expect(messages.map(({ method }) => method)).toContain('notifications/cancelled');
  });

  it('has the questions of each call on the stream of that call alone [T25-03 T25-04 T25-08 MCP25-21]', async () => {
    const { person, session } = await sitDown();
    const form = await readUntil(await session.call(first, 1, 'text: of its own'), ASKED);
    const page = await readUntil(await session.call(second, 2, 'page: of its own'), ASKED);
    expect([form.includes('"mode":"url"'), page.includes('"mode":"form"')]).toEqual([false, false]);
    const resumed = await session.resume(second, lastIdIn(page));
    for (const { id } of await listOpenOf(site.pods[0].engine, person))
      await session.answer(first, id, { action: 'decline' });
    expect((await readReply(resumed)).messages).toEqual([expect.objectContaining({ id: 2 })]);
  });

  it('asks again on a new stream what is still open, and nothing that has ended', async () => {
    const { person, session } = await sitDown();
    const message = 'text page work: again';
    const events = await readUntil(await session.call(first, 1, message), '"mode":"url"');
    const [start = ''] = events.match(/^id: .*$/m) ?? [];
    const rows = await listOpenOf(site.pods[0].engine, person);
    const idOf = (mode: string) => rows.find(({ definition }) => definition.mode === mode)?.id;
    await session.answer(second, idOf('form'), { action: 'decline' });
    const seen = await readUntil(await session.resume(second, start.slice(4)), ASKED);
    expect(seen).toContain(`"id":"${idOf('url')}"`);
    expect(seen).not.toContain(`"id":"${idOf('form')}"`);
    await session.answer(second, idOf('url'), { action: 'cancel' });
    // The same call again finds its result; then it is another call.
    const joined = await session.exchange(second, callMessage(2, message));
    expect(joined.messages.at(-1)).toMatchObject({ id: 2, result: { content: [{ type: 'text' }] } });
    expect(site.done.get(message)).toBe(1);
  });

  it('stops a call that its client cancels, and none that only timed out [T25-32]', async () => {
    const { person, session } = await sitDown();
    await readUntil(await session.call(first, 1, 'text: kept'), ASKED);
    const kept = await questionOf(person);
    expect((await session.exchange(second, cancelOf(9, 'The person pressed stop.'))).status).toBe(202);
    await session.exchange(second, cancelOf(1, 'McpError: MCP error -32001: Request timed out'));
    expect(await readUntil(await session.call(second, 2, 'text: kept'), ASKED)).toContain(kept);
    await session.exchange(second, cancelOf(2, 'The person pressed stop.'));
    await isWithdrawn(person, kept);
  });

  it('the cancel of one request leaves alone the call that a later request follows', async () => {
    const { person, session } = await sitDown();
    await readUntil(await session.call(first, 1, 'text: followed'), ASKED);
    const id = await questionOf(person);
    const joining = await session.call(second, 2, 'text: followed');
    expect((await session.exchange(first, cancelOf(1, 'The person closed it.'))).status).toBe(202);
    await session.answer(first, id, GREEN);
    expect(textIn((await readReply(joining)).messages.at(-1))).toContain('green');
  });

  it('a request id that is used again leaves the equal call of another request alone', async () => {
    const { session } = await sitDown();
    await readUntil(await session.call(first, 1, 'text: reused'), ASKED);
    const other = await readUntil(await session.call(first, 2, 'text work: other'), ASKED);
    const [question] = /el_[\w-]+/.exec(other) ?? [];
    const reused = await readReply(await session.call(first, 1, 'text work: other'));
    expect(errorOf(reused)?.code).toBe(-32602);
    expect(await readUntil(await session.call(first, 3, 'text work: other'), ASKED)).toContain(question);
  });

  it('asks again after an answer that does not fit, three times, and ignores unknown ones', async () => {
    const { person, session } = await sitDown();
    const stream = await session.call(first, 1, 'text: misfit');
    const id = await questionOf(person);
    const misfit = () => session.answer(second, id, { action: 'accept', content: { answer: 7, more: true } });
    for (const _ of [1, 2, 3]) expect((await misfit()).status).toBe(202);
    // The stream asks again under an id of its own, and says why.
    const asked = await readUntil(stream, `"id":"${id}~3"`);
    expect(asked).toContain('Which colour?');
    expect(asked).toContain('did not fit');
    // The same call again, on a new stream, has the form once, as it was asked last.
    const repeated = await readUntil(await session.call(second, 2, 'text: misfit'), ASKED);
    expect(repeated.match(/el_[\w-]+~\d+/g)).toEqual([`${id}~3`]);
    // A stream that continues after that has it no more.
    const resumed = await session.resume(first, lastIdIn(repeated));
    for (const unknown of [`${id.slice(0, -4)}0000`, 'el_', 5, '../x'])
      expect((await session.answer(second, unknown, { action: 'accept' })).status).toBe(202);
    expect((await misfit()).status).toBe(202);
    expect(await statusOf(person, id)).toBe('cancelled');
    expect((await readReply(resumed)).messages).toEqual([expect.objectContaining({ id: 2 })]);
    // An error in place of an answer is a dismissal.
    await readUntil(await session.call(first, 3, 'text: failing'), ASKED);
    const failing = await questionOf(person);
    const error = { code: -32603, message: 'the client fell over' };
    expect((await session.exchange(second, { jsonrpc: '2.0', id: failing, error })).status).toBe(202);
    expect(await statusOf(person, failing)).toBe('cancelled');
  });

  it('without a stream is shown urls by an error, and the same call then waits for its end [MCP25-26 MCP25-27 MCP25-28 MCP25-29 MCP25-43]', async () => {
    const { person, session } = await sitDown();
    const json = { headers: { accept: 'application/json' } };
    const asked = await session.exchange(first, callMessage(1, 'page work: json'), json);
    const elicitationId = await questionOf(person);
    expect(errorOf(asked)).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', elicitationId }] },
    });
    await session.answer(second, elicitationId, { action: 'accept' });
    const repeating = session.exchange(second, callMessage(2, 'page work: json'), json);
    await finishPage(site.pods[1].engine, person, elicitationId);
    expect(textIn((await repeating).messages[0])).toContain('accepted');
    expect(site.done.get('page work: json')).toBe(1);
    const mute = await beginSession(first, person, { elicitation: { form: {} } });
    const refused = await mute.exchange(first, callMessage(3, 'page: mute'), json);
    expect(textIn(refused.messages[0])).toContain(`${ANSWER_PAGE_URL}${await questionOf(person)} `);
  });

  it('that ends leaves alone a call whose client was told the page of its question, also while it waits again', async () => {
    const person = newPerson();
    const [one, other] = [await beginSession(first, person, {}), await beginSession(second, person, {})];
    const message = 'text: left to its page';
    const read = async (stream: Response) => textIn((await readReply(stream)).messages.at(-1));
    const end = (session: RawSession) => session.exchange(first, undefined, { method: 'DELETE' });
    const told = await read(await one.call(second, 1, message));
    const id = await questionOf(person);
    expect(told).toContain(`${ANSWER_PAGE_URL}${id} `);
    await end(one);
    const again = await other.call(second, 1, message);
    await end(other);
    expect(await read(again)).toBe(told);
    expect(await statusOf(person, id)).toBe('pending');
  });
});

it('a client that left before it was told the page is told it at once by the same call', async () => {
  const patient = await serveOn(site.pods[0], { surfaceOf: mcpSurface({ againMs: 600_000 }) });
  onTestFinished(patient.stop);
  const person = newPerson();
  const session = await beginSession(patient.url, person, {});
  const leaving = await session.call(patient.url, 1, 'text: left early');
  await leaving.body?.cancel();
  const id = await questionOf(person);
  const again = await readReply(await session.call(patient.url, 2, 'text: left early'));
  expect(textIn(again.messages.at(-1))).toContain(`${ANSWER_PAGE_URL}${id} `);
});

describe('revision 2026-07-28', () => {
  it('answers discovery and lists, and refuses what does not fit together [T26-12 T26-14 T26-15 T26-16 T26-17 T26-19 T26-22]', async () => {
    const person = newPerson();
    const found = await modernExchange(second, person, modern('server/discover', {}));
    expect(found.messages[0]?.result).toMatchObject({
      capabilities: { tools: {} },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'parley' } },
    });
    const call = modern('tools/call', { name: 'helper', arguments: { message: 'hello' } });
    const bare = { ...call, body: { ...call.body, params: { name: 'helper' } } };
    const encoded = (name: string) => ({ 'mcp-name': `=?base64?${Buffer.from(name).toString('base64')}?=` });
    expect((await modernExchange(first, person, call, encoded('helper'))).status).toBe(200);
    const { _meta } = call.body.params;
    const later = '2999-01-01';
    const newer = { ...call.body.params, _meta: { ..._meta, [VERSION_KEY]: later } };
    const unknown = { headers: call.headers, body: { ...call.body, params: newer } };
    const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9, _meta } };
    const noted = { headers: { ...call.headers, 'mcp-method': notice.method }, body: notice };
    expect(await modernExchange(first, person, noted)).toMatchObject({ status: 202, messages: [] });
    const refused = await modernExchange(first, person, unknown, { 'mcp-protocol-version': later });
    expect(errorOf(refused)?.data).toMatchObject({ supported: ['2026-07-28'] });
    for (const [reply, status, code] of [
      [refused, 400, -32022],
      [await modernExchange(first, person, call, { 'mcp-name': 'other' }), 400, -32020],
      [await modernExchange(first, person, call, encoded('other')), 400, -32020],
      [await modernExchange(first, person, modern('tools/burn', {})), 404, -32601],
      [await modernExchange(first, person, modern('initialize', {})), 404, -32601],
      [await modernExchange(first, person, bare), 400, -32602],
    ] as const)
      expect([reply.status, errorOf(reply)?.code]).toEqual([status, code]);
  });

  it('asks in rounds on any pod; a repeated resume reads the finished call [MCP26-12 MCP26-14 MRTR-05 MRTR-06 MRTR-14 MRTR-27 T26-07 T26-08]', async () => {
    const person = newPerson();
    const task = 'text work: rounds';
    const { result, id, requestState } = await modernCall(first, person, task);
    expect(result?.resultType).toBe('input_required');
    const asked = { method: 'elicitation/create', params: { mode: 'form' } };
    expect(result?.inputRequests?.[id]).toMatchObject(asked);
    const wrong = { action: 'accept', content: { answer: 5 } };
    const inputResponses = { [id]: wrong, el_00unknown: { action: 'accept' } };
    const misfit = await modernCall(second, person, task, { requestState, inputResponses });
    expect(Object.keys(misfit.result?.inputRequests ?? {})).toEqual([id]);
    const answers = { user_name: GREEN, [id]: GREEN, other: 5 };
    const resume = () => modernCall(second, person, task, { requestState, inputResponses: answers });
    const done = await resume();
    expect(done.result).toMatchObject({ resultType: 'complete' });
    expect(done.text).toContain('green');
    expect((await resume()).result?.content).toEqual(done.result?.content);
    expect(site.done.get(task)).toBe(1);
  });

  /** A call that asks with a page to which its person has agreed, and that waits for its end. */
  async function consented(message: string, pod = second) {
    const person = newPerson();
    const { id, requestState } = await modernCall(first, person, message);
    const agreed = { requestState, inputResponses: { [id]: { action: 'accept' } } };
    /** Ends the page, and gets the result with a state. */
    const finish = async (state: string | undefined) => {
      await finishPage(site.pods[0].engine, person, id);
      return (await modernCall(first, person, message, { requestState: state })).text;
    };
    const resume = (more: object = {}) => modernCall(pod, person, message, { ...agreed, ...more });
    return { person, id, agreed, resume, finish };
  }
  const WAITS = { resultType: 'input_required', requestState: expect.any(String) };

  it('after consent to a url waits, then returns the state alone [MCP26-17 MCP26-19 MRTR-15 T26-04]', async () => {
    const hasty = await serveOn(site.pods[1], { surfaceOf: mcpSurface({ roundMs: 500 }) });
    onTestFinished(hasty.stop);
    const { resume, finish } = await consented('page: consent', hasty.url);
    const { result } = await resume();
    expect(result).toMatchObject(WAITS);
    expect(result?.inputRequests).toBeUndefined();
    expect(await finish(result?.requestState)).toContain('accepted');
  });

  it("refuses a state that is another person's, another call's, changed or expired [MCP26-33 MRTR-11 MRTR-12 MRTR-13 SEC-05]", async () => {
    const [alice, mallory] = [newPerson(), newPerson()];
    const task = 'text: state';
    const { id, requestState = '' } = await modernCall(first, alice, task);
    const inputResponses = { [id]: { action: 'accept', content: { answer: 'stolen' } } };
    const [version, body = '', mac = ''] = requestState.split('.');
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { p: object };
    const later = JSON.stringify({ ...payload, p: { ...payload.p, until: 9e12 } });
    const forged = [version, Buffer.from(later).toString('base64url'), mac].join('.');
    const codeOf = async (person: Person, message: string, state: unknown) =>
      errorOf(await modernCall(second, person, message, { requestState: state, inputResponses }))?.code;
    expect(await codeOf(mallory, task, requestState)).toBe(-32602);
    expect(await codeOf(alice, 'text: other', requestState)).toBe(-32602);
    for (const state of [forged, `${requestState}x`, 7])
      expect(await codeOf(alice, task, state)).toBe(-32602);
    expect(await questionOf(alice)).toBe(id);
    recordsClock.aheadMs = 8 * 86_400_000;
    try {
      expect(await codeOf(alice, task, requestState)).toBe(-32602);
    } finally {
      recordsClock.aheadMs = 0;
    }
    expect(await questionOf(alice)).toBe(id);
  });

  it('takes an answer with the state that it gave before an operator moved the deadline', async () => {
    const person = newPerson();
    const task = 'text: moved';
    const { id, requestState } = await modernCall(first, person, task);
    await site.pods[0].engine.extend({ caller: userOf(person), id, seconds: 7_200 });
    recordsClock.aheadMs = 3_600_000;
    onTestFinished(() => {
      recordsClock.aheadMs = 0;
    });
    const answered = { requestState, inputResponses: { [id]: GREEN } };
    expect((await modernCall(second, person, task, answered)).text).toContain('green');
  });

  it('refuses a question that the client of this request has not declared [MCP26-08 MRTR-16 T26-03]', async () => {
    const person = newPerson();
    const formOnly = { elicitation: {} };
    const { result, requestState } = await modernCall(first, person, 'page: undeclared');
    expect(Object.keys(result?.inputRequests ?? {})).toHaveLength(1);
    const refused = await modernCall(second, person, 'page: undeclared', { requestState }, formOnly);
    const data = { requiredCapabilities: { elicitation: { url: {} } } };
    expect([refused.status, errorOf(refused)]).toMatchObject([400, { code: -32021, data }]);
    // The same call of a client that can show less is another call.
    const other = await modernCall(second, person, 'page: undeclared', {}, formOnly);
    expect(other.result).toMatchObject({ resultType: 'complete' });
    const form = await modernCall(first, person, 'text: declared', {}, formOnly);
    expect(Object.values(form.result?.inputRequests ?? {})).toMatchObject([{ params: { mode: 'form' } }]);
  });

  it('a token that expires ends the request with its state, and the call goes on', async () => {
    const { person, agreed, finish } = await consented('page: token');
    const call = modern('tools/call', {
      name: 'helper',
      arguments: { message: 'page: token' },
      ...agreed,
      _meta: { progressToken: 1 },
    });
    const expiring = { 'x-expires-at': String(Date.now() + 500) };
    const reply = await modernExchange(second, person, call, expiring);
    const waiting = reply.messages.at(-1)?.result;
    expect(waiting).toMatchObject(WAITS);
    expect(await finish(waiting?.requestState)).toContain('accepted');
  });

  it('stops a call whose request is closed [T26-11]', async () => {
    const { person, id, agreed } = await consented('page: closed');
    const leaving = new AbortController();
    const params = { name: 'helper', arguments: { message: 'page: closed' }, ...agreed };
    const { body, headers } = modern('tools/call', params);
    const { token } = person;
    const waits = send(second, body, { token, headers, signal: leaving.signal }).catch(() => undefined);
    expect(await questionOf(person, 'opened')).toBe(id);
    leaving.abort();
    await waits;
    await isWithdrawn(person, id);
  });

  it('does not stop a call whose client was told the page of its question, when it closes the request that waits again', async () => {
    const person = newPerson();
    const call = () => modernCall(first, person, 'text: told and closed', {}, {});
    const { text } = await call();
    const id = await questionOf(person);
    expect(text).toContain(`${ANSWER_PAGE_URL}${id} `);
    const leaving = new AbortController();
    const params = { name: 'helper', arguments: { message: 'text: told and closed' } };
    const { body, headers } = modern('tools/call', { ...params, _meta: { progressToken: 1 } }, {});
    const again = await send(second, body, { token: person.token, headers, signal: leaving.signal });
    await readUntil(again, 'progress');
    leaving.abort();
    expect((await call()).text).toBe(text);
    expect(await statusOf(person, id)).toBe('pending');
  });

  it('a pod that drains gives its waiting calls back, and they go on elsewhere', async () => {
    const draining = await serveOn(site.pods[1], { surfaceOf: mcpSurface() });
    onTestFinished(draining.stop);
    const calls = [
      await consented('page: drained', draining.url),
      await consented('page: drained with progress', draining.url),
    ];
    const waiting = calls.map(({ resume }, at) => resume(at === 0 ? {} : { _meta: { progressToken: 1 } }));
    for (const { person } of calls) await questionOf(person, 'opened');
    draining.drain();
    for (const [at, { finish }] of calls.entries()) {
      const { result } = (await waiting[at]) ?? {};
      expect(result).toMatchObject(WAITS);
      expect(await finish(result?.requestState)).toContain('accepted');
    }
  });
});

it('a stream that is continued takes the place of its broken connection', async () => {
  const budgets = { userStreams: 1 };
  const small = await Promise.all(site.pods.map((pod) => serveOn(pod, { surfaceOf: mcpSurface(), budgets })));
  onTestFinished(() => {
    for (const { stop } of small) stop();
  });
  const [one = '', other = ''] = small.map(({ url }) => url);
  const session = await beginSession(one, newPerson());
  const broken = await session.call(one, 1, 'text: place');
  const position = Buffer.from(JSON.stringify({ id: 1, at: Date.now() })).toString('base64url');
  const resumed = await session.resume(other, `start/${position}`);
  expect(resumed.status).toBe(200);
  expect(await readUntil(resumed, ASKED)).toContain('Which colour?');
  await broken.body?.cancel();
});

describe('the header Accept is read by its rules [T25-19 T25-22 T26-18]', () => {
  const JSON_TYPE = 'application/json';
  const EVENTS = 'text/event-stream';
  it.each([
    // Header, and what may come in return.
    [`${JSON_TYPE}, ${EVENTS}`, JSON_TYPE, EVENTS],
    ['Application/JSON, TEXT/Event-Stream; q=0.5', JSON_TYPE, EVENTS],
    ['*/*', JSON_TYPE, EVENTS],
    ['text/*;q=0.1 , application/*', JSON_TYPE, EVENTS],
    [JSON_TYPE, JSON_TYPE],
    [`*/*, ${EVENTS};q=0`, JSON_TYPE],
    [`${JSON_TYPE}; charset=utf-8, text/*;q=0.000`, JSON_TYPE],
    [EVENTS, EVENTS],
    [`*/*;q=0.3, ${JSON_TYPE};Q=0`, EVENTS],
    ['text/html, application/xml', 406],
    ['*/*;q=0', 406],
  ] as const)('%s', async (accept, ...allowed) => {
    const { person, session } = await sitDown();
    const requests = [
      () => send(first, initializeMessage(), { ...person, headers: { accept } }),
      () => send(second, LIST, { ...person, headers: { ...session.headers, accept } }),
      () => send(first, callMessage(3, 'hello'), { ...person, headers: { ...session.headers, accept } }),
      ...[modern('tools/list', {}), modern('tools/call', PROGRESSING)].map(
        ({ body, headers }) =>
          () =>
            send(second, body, { ...person, headers: { ...headers, accept } }),
      ),
    ];
    const [status] = allowed;
    for (const [at, request] of requests.entries()) {
      const reply = await request();
      const type = reply.headers.get('content-type')?.split(';')[0];
      expect(
        allowed.some((one) => one === type || one === reply.status),
        `${at}: ${type}`,
      ).toBe(true);
      const { messages } = await readReply(reply);
      if (status === 406) expect(messages[0]?.error?.code).toBe(-32000);
      else expect(messages.at(-1)).toMatchObject({ result: expect.anything() });
      if (type === JSON_TYPE) expect(messages).toHaveLength(1);
      else if (type === EVENTS) expect(reply.headers.get('x-accel-buffering')).toBe('no');
    }
    const takesEvents = allowed.some((one) => one === EVENTS);
    const opened = await send(first, undefined, {
      ...person,
      headers: { ...session.headers, accept },
      method: 'GET',
    });
    expect(opened.status).toBe(takesEvents ? 200 : 406);
    await opened.body?.cancel();
    const answer = { jsonrpc: '2.0', id: 'el_00x', result: { action: 'accept' } };
    expect((await session.exchange(second, answer, { headers: { accept } })).status).toBe(202);
  });
});

describe('bodies', () => {
  it('are refused when they are too large, too deep or no JSON, with an error of JSON-RPC [T25-30]', async () => {
    const headers = { 'mcp-session-id': 'x' };
    for (const [body, status, code] of [
      [JSON.stringify(callMessage(1, 'x'.repeat(BODY_BYTES_MAX))), 413, -32000],
      [`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 400, -32700],
      ['{"jsonrpc":', 400, -32700],
      ['{"__proto__":{}}', 400, -32700],
      ['', 400, -32700],
      ['"text"', 400, -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
    ] as const) {
      const reply = await exchange(first, body, { ...newPerson(), headers });
      expect([reply.status, errorOf(reply)?.code], body.slice(0, 20)).toEqual([status, code]);
    }
  });

  it('may have any words as keys, as the arguments of tools have', async () => {
    const params = {
      name: 'helper',
      arguments: { message: 'hello: words', constructor: 'Ferrari', prototype: {}, toString: 1 },
    };
    const called = await modernExchange(first, newPerson(), modern('tools/call', params));
    expect(called.messages.at(-1)?.result).toMatchObject({ resultType: 'complete' });
  });

  it('with a request id that is too long, or a position that Parley did not write, are refused', async () => {
    const { session } = await sitDown();
    const long = await session.exchange(first, callMessage('x'.repeat(300), 'hello'));
    expect(errorOf(long)?.code).toBe(-32602);
    const forged = `1-1/${Buffer.from('{"id":1,"at":0}').toString('base64url')}`;
    for (const lastEventId of [forged, 'x', '../../etc', `start/${'A'.repeat(5_000)}`])
      expect((await session.resume(first, lastEventId)).status).toBe(400);
  });
});

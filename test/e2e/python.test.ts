import { Approval } from '@parley/core/domain/approvals/approval';
import { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { type AnswerLink, createClient } from '@parley/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { createRoundRobin, type RoundRobin } from '../harness/http/round-robin.ts';
import { serviceKeyOf } from '../harness/load/load-env.ts';
import { modern, modernExchange, SHOWS_ALL } from '../harness/mcp-clients/raw.ts';
import { createAskingFixture } from '../harness/mcp-servers/asking.ts';
import { startMcpServer } from '../harness/mcp-servers/mcp-servers.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { type Python, pythonNotRun, startPython } from '../harness/python/bridge.ts';
import { newOwner, tokenOf } from '../harness/site/pod-client.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { SECRET, startReceiver } from '../harness/webhooks/setup.ts';

interface PythonOutcome {
  readonly status: string;
  readonly accepted: boolean;
  readonly content: Readonly<Record<string, unknown>>;
  readonly repr: string;
}

const COLOUR = {
  type: 'object',
  properties: { colour: { type: 'string', enum: ['red', 'blue'] } },
  required: ['colour'],
};
const CLIENTS = ['sync', 'async'] as const;

const why = await pythonNotRun();
if (why !== undefined) suiteNotRun('the Python client', why);
else describe('the Python client', suite);

function suite() {
  const tenant = 'acme';
  const key = serviceKeyOf(tenant);
  const linkKey = 'a-key-that-makes-links-0123456789';
  let site: Site;
  let balancer: RoundRobin;
  let env: Record<string, string>;
  let pods: SitePod[];
  let python: Python;
  let tool: { readonly kill: () => void };

  beforeAll(async () => {
    site = await openSite();
    const fixture = createAskingFixture();
    const [model, server] = await Promise.all([
      site.model({ script: [] }),
      startMcpServer({ revision: 'stateless', fixture }),
    ]);
    tool = server;
    env = {
      PARLEY_API_KEYS: `${tenant}:${key},${tenant}/linker/read+link:${linkKey}`,
      PARLEY_PUBLIC_URL: 'https://parley.example',
      PARLEY_WEBHOOK_SECRETS: `${tenant}:${SECRET}`,
      PARLEY_OUTBOX_MS: '200',
      PARLEY_CONFIG: site.agents(
        model.url,
        `agents:
  helper: { title: Helper, model: scripted, instructions: Help. }
mcpServers:
  desk: { title: Desk, transport: http, url: "${server.url}", credentialScope: none, approval: { ask: always } }
mcpOffer: { tools: [{ server: desk, prefix: false, task: always }] }
`,
      ),
    };
    await site.worker(env);
    pods = [await site.pod(env), await site.pod(env)];
    balancer = await createRoundRobin({ targets: pods.map(({ url }) => url) });
    python = startPython(balancer.url, { first_delay: 0.05, delay_max: 0.5, give_up: 120, poll: 5 });
  });
  afterAll(async () => {
    python?.kill();
    await balancer?.close();
    await site?.stop();
    tool?.kill();
  });

  const tokenFor = (userId: string) => tokenOf({ tenant, userId });
  const listed = (userId: string) =>
    python.call<{ readonly elicitationId: string }[]>('list', {
      token: key,
      kwargs: { user_id: userId, status: ['pending'] },
    });
  const pendingOf = (userId: string) =>
    waitUntil(async () => (await listed(userId)).value?.[0]?.elicitationId, { what: 'the question' });

  it('waits through the death of both pods, each replaced by a new one, in threads and in an event loop', async () => {
    const asked = await Promise.all(
      CLIENTS.map(async (client) => {
        const { userId } = newOwner();
        const call = { client, token: key, args: [userId, 'Which?'], kwargs: { requested_schema: COLOUR } };
        const { reply } = python.begin<PythonOutcome>('ask', call);
        return { userId, reply, id: await pendingOf(userId) };
      }),
    );
    for (const dying of pods.splice(0)) {
      dying.kill('SIGKILL');
      await dying.exited;
      pods.push(await site.pod(env));
      await balancer.setTargets(pods.map(({ url }) => url));
    }
    for (const { userId, id, reply } of asked) {
      const args = [id, 'accept', { colour: 'blue' }];
      const answered = await python.call('answer', { token: await tokenFor(userId), args });
      expect(answered.value).toMatchObject({ status: 'accepted' });
      const { value } = await reply;
      expect(value).toMatchObject({ status: 'accepted', accepted: true, content: { colour: 'blue' } });
      expect(value?.repr).not.toContain('blue');
    }
  });

  it('a process that died asks with its key, and gets the outcome of the first question', async () => {
    const { userId } = newOwner();
    const call = {
      token: key,
      args: [userId, 'Deploy?'],
      kwargs: { requested_schema: COLOUR, idempotency_key: `deploy-${userId}` },
    };
    const first = startPython(balancer.url);
    void first.call('ask', call);
    const id = await pendingOf(userId);
    first.kill();
    const again = await python.call<{ readonly elicitationId: string }>('start', call);
    expect(again.value?.elicitationId).toBe(id);
    const outcome = python.begin<PythonOutcome>('outcome_of', { client: 'async', token: key, args: [id] });
    await python.call('answer', { token: await tokenFor(userId), args: [id, 'decline'] });
    expect((await outcome.reply).value).toMatchObject({ status: 'declined', accepted: false, content: {} });
  });

  it('a cancelled call ends the waiting, not the question, which is withdrawn by its asker', async () => {
    const { userId } = newOwner();
    const call = { client: 'async', token: key, args: [userId, 'Which?'] } as const;
    const asked = python.begin('ask', { ...call, kwargs: { requested_schema: COLOUR } });
    const id = await pendingOf(userId);
    asked.cancel();
    expect((await asked.reply).error?.code).toBe('CancelledError');
    const withdrawn = await python.call('withdraw', { token: key, args: [id, 'not_needed'] });
    expect(withdrawn.value).toMatchObject({ status: 'withdrawn' });
    expect((await python.call('outcome_of', { token: key, args: [id] })).value).toMatchObject({
      status: 'withdrawn',
      reason: 'not_needed',
    });
  });

  it('a url question is completed by its asker', async () => {
    const { userId } = newOwner();
    const kwargs = { url: 'https://example.com/pay', completion: 'server' };
    const asked = python.begin<PythonOutcome>('ask', { token: key, args: [userId, 'Pay'], kwargs });
    const id = await pendingOf(userId);
    await python.call('answer', { token: await tokenFor(userId), args: [id, 'accept'] });
    expect((await python.call('complete', { token: key, args: [id] })).value).toMatchObject({
      status: 'accepted',
    });
    expect((await asked.reply).value).toMatchObject({ accepted: true, content: {} });
  });

  it.each([
    ['start', key, ['ada', 'Which?'], { requested_schema: { type: 'text' } }, 'invalid_request', 400],
    ['start', key, ['ada', 'Which?'], { colour: 'red' }, 'invalid_request', null],
    ['start', 'no token', ['ada', 'Which?'], { requested_schema: COLOUR }, 'unauthenticated', 401],
    ['start', 'a\r\nb', ['ada', 'Which?'], { requested_schema: COLOUR }, 'invalid_request', null],
    ['get', key, ['el_none'], {}, 'not_found', 404],
    ['get', key, ['..'], {}, 'not_found', null],
    ['get_approval', key, ['ap_none'], {}, 'not_found', 404],
  ] as const)('%s refused: %s %j %j is %s', async (call, token, args, kwargs, code, status) => {
    for (const client of CLIENTS) {
      const { error } = await python.call(call, { client, token, args, kwargs });
      expect(error).toMatchObject({ code, status });
      expect(error?.message).not.toContain(token);
    }
  });

  it('an answer that does not fit names its field', async () => {
    const { userId } = newOwner();
    const call = { token: key, args: [userId, 'Which?'], kwargs: { requested_schema: COLOUR } };
    const asked = await python.call<{ readonly elicitationId: string }>('start', call);
    const args = [asked.value?.elicitationId, 'accept', { colour: 'green' }];
    const { error } = await python.call('answer', { client: 'async', token: await tokenFor(userId), args });
    expect(error).toMatchObject({ code: 'invalid_answer', problem: { errors: [{ path: 'colour' }] } });
  });

  it('a person approves a call of a tool, or denies it', async () => {
    const person = newOwner();
    const token = await tokenFor(person.userId);
    const capabilities = { ...SHOWS_ALL, extensions: { 'io.modelcontextprotocol/tasks': {} } };
    // An equal call would join the one before.
    const begin = async (text: string) => {
      const request = modern('tools/call', { name: 'book', arguments: { text } }, capabilities);
      await modernExchange(`${pods[0]?.url}`, { token }, request);
      const pending = () =>
        python.call<{ readonly approvalId: string }[]>('list_approvals', {
          client: 'async',
          token,
          kwargs: { status: 'pending' },
        });
      return waitUntil(async () => (await pending()).value?.[0]?.approvalId, { what: 'the approval' });
    };
    const denied = await begin('first');
    expect((await python.call('deny', { token, args: [denied, 'No.'] })).value).toMatchObject({
      status: 'denied',
    });
    const held = await begin('second');
    const sdk = createClient({ baseUrl: `${pods[0]?.url}`, token: linkKey });
    const made = [
      (await python.call<AnswerLink>('create_answer_link', { token: linkKey, args: [held] })).value,
      (await python.call<AnswerLink>('create_answer_link', { client: 'async', token: linkKey, args: [held] }))
        .value,
      await sdk.createAnswerLink(held, { expiresInSeconds: 60 }),
    ];
    for (const link of made) {
      const { pathname, hash } = new URL(`${link?.url}`);
      expect([pathname, hash]).toEqual([`/auth/answer/${held}`, expect.stringMatching(/^#[\w-]{43}$/)]);
      expect(await (await fetch(`${pods[1]?.url}${pathname}`)).text()).toContain('Show the call');
    }
    await sdk.revokeAnswerLink(held);
    expect((await python.call('revoke_answer_link', { token: linkKey, args: [held] })).error).toBeUndefined();
    expect((await python.call('approve', { client: 'async', token, args: [held] })).value).toMatchObject({
      status: 'approved',
    });
    expect((await python.call('get_approval', { token, args: [held] })).value).toMatchObject({
      status: 'approved',
    });
    expect(await pendingOf(person.userId)).toMatch(/^el_/);
    expect((await python.call('remembered_approvals', { token })).value).toEqual([]);
    const { error } = await python.call('deny', { token, args: [held] });
    expect(error?.code).toBe('already_settled');
  });

  it('verifies the webhook of a question, and refuses every other', async () => {
    const receiver = await startReceiver();
    const { userId } = newOwner();
    const kwargs = { requested_schema: COLOUR, webhook_url: receiver.url };
    await python.call('start', { token: key, args: [userId, 'Which?'], kwargs });
    const args = [await pendingOf(userId), 'accept', { colour: 'red' }];
    await python.call('answer', { token: await tokenFor(userId), args });
    await waitUntil(() => receiver.received.length > 0, { what: 'the webhook' });
    const { headers, body } = receiver.received[0] ?? { headers: {}, body: '' };
    const verify = (...given: unknown[]) => python.call('verify', { args: given });
    expect((await verify(SECRET, headers, body)).value).toMatchObject({
      type: 'elicitation.accepted',
      data: { content: { colour: 'red' } },
    });
    const refused: readonly (readonly [string, object, string])[] = [
      [SECRET, headers, `${body} `],
      [`whsec_${btoa('another secret of some length')}`, headers, body],
      [SECRET, { ...headers, 'webhook-timestamp': '1' }, body],
      [SECRET, { ...headers, 'webhook-timestamp': '²' }, body],
      [SECRET, { ...headers, 'webhook-signature': 'v1,é' }, body],
      [SECRET, {}, body],
    ];
    for (const given of refused) expect((await verify(...given)).error?.code).toBe('unauthenticated');
  });

  it.each([
    ['Elicitation', Elicitation],
    ['Approval', Approval],
  ] as const)('its %s has the keys of the wire', async (name, schema) => {
    const fields = Object.entries<z.ZodType>(schema.shape);
    const required = fields.filter(([, type]) => !type.safeParse(undefined).success).map(([key]) => key);
    const optional = fields.map(([key]) => key).filter((key) => !required.includes(key));
    const { value } = await python.call('keys_of', { args: [name] });
    expect(value).toEqual({ required: required.sort(), optional: optional.sort() });
  });

  it('its questions have the keys of an ask', async () => {
    const { value } = await python.call<string[]>('question_of');
    const camel = (value ?? []).map((word) => word.replace(/_(.)/g, (_, first) => first.toUpperCase()));
    const given = ['userId', 'mode', 'message'];
    expect([...camel, ...given].sort()).toEqual(Object.keys(AskInput.shape).sort());
  });
}

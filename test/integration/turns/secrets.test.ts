import { createServer } from 'node:http';
import type { RunRef, Support } from '@parley/shared/domain/runs/run';
import { createVault } from '@parley/shared/vault/vault';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createSecrets } from '../../../services/api/src/accounts/secrets.ts';
import type { Tool, ToolCall } from '../../../services/api/src/agents/run/tool.ts';
import { type Secrets, withSecretsRedeemed } from '../../../services/api/src/agents/tools/secrets.ts';
import { createTypedIdentity } from '../../../services/api/src/pages/identity/typed.ts';
import { createConnectTargets } from '../../../services/api/src/wiring/credentials/targets.ts';
import { startEchoTools } from '../../../stand-ins/issue-tracker/echo.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { canary } from '../../harness/canary.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { answerQuestion, newOwner } from '../../harness/engines/questions.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { createTestBrowser } from '../../harness/pages/browser.ts';
import { createPages } from '../../harness/pages/pages-server.ts';
import { startConfiguredPod } from '../../harness/turns/configured.ts';
import { modelOf, worldOn } from '../../harness/turns/site.ts';
import { newKeys } from '../../harness/vault/stores.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Asks for a secret for the tool that the user names, then passes the reference to `echo` the given number of times. */
function line({ userText, results }: Turn): ScriptedReply {
  if (userText.startsWith('fields ')) return listing({ userText, results });
  const [, taker, times] = /^for (\S+) times (\d)$/.exec(userText) ?? [];
  const [first, ...echoes] = results;
  if (first === undefined) {
    const question = { kind: 'secret', message: 'Your deploy key?', title: 'Deploy key', for: taker };
    return { calls: [{ name: 'elicit', arguments: question }] };
  }
  const reference = /"reference":"([^"]+)"/.exec(first.text)?.[1];
  if (reference === undefined || echoes.length >= Number(times))
    return { text: results.map(({ text }) => text).join(' & ') };
  return { calls: [{ name: 'echo__echo', arguments: { text: reference } }] };
}

/** Asks for the fields that the user gives as JSON, then passes the reference of `key` to `echo`. */
function listing({ userText, results }: Pick<Turn, 'userText' | 'results'>): ScriptedReply {
  const [first] = results;
  if (first === undefined) {
    const fields = JSON.parse(userText.slice('fields '.length));
    return { calls: [{ name: 'elicit', arguments: { kind: 'form', message: 'Deploy?', fields } }] };
  }
  const reference = /"key":"([^"]+)"/.exec(first.text)?.[1];
  if (reference === undefined || results.length > 1)
    return { text: results.map(({ text }) => text).join(' & ') };
  return { calls: [{ name: 'echo__echo', arguments: { text: reference } }] };
}

const model = modelOf(line);
let echo: Awaited<ReturnType<typeof startEchoTools>>;
beforeAll(async () => {
  echo = await startEchoTools();
});
afterAll(() => echo.stop());

const SUPPORTED: Support = { form: true, url: true };

/** A pod with its hosted pages, where users sign in by typing their name. */
async function open(limits = { messageCharactersMax: 10_000 }) {
  const server = createServer((req, res) => void pages(req, res));
  const publicUrl = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const world = worldOn(model);
  const { backend } = world;
  const engine = engineOn(backend, { settings: { connectBaseUrl: `${publicUrl}/auth/connect/`, ...limits } });
  const keys = newKeys();
  const vault = createVault({ store: backend.vault, keys });
  const secrets = createSecrets({ ...backend, vault, takenMs: 60_000 });
  const { tenant, userId } = world.conversation;
  const owner = { tenant, userId };
  const { loaded, turns } = startConfiguredPod({
    yaml: `models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., elicit: true, tools: [{ server: echo }] }
mcpServers:
  echo: { title: Echo, transport: http, url: "${echo.url}", credentialScope: none }
`,
    backend,
    engine,
    secrets,
  });
  const pages = createPages(
    {
      publicUrl,
      engine,
      elicitations: backend.elicitations,
      approvals: backend.approvals,
      store: backend.pages,
      limits: backend.limits,
      vault,
      keys,
      identity: createTypedIdentity(tenant),
      targets: createConnectTargets(loaded, { publicUrl, allowLoopbackHttp: true }),
      callLimits: callLimitsOn(backend.limits),
      notifyOrigins: [],
      brand: {},
      linksApprovals: true,
      proxyHops: 0,
      failuresMax: 30,
      postsMax: 120,
      onEvent: () => undefined,
    },
    { serviceKeys: [], tokenSecret: 's'.repeat(32) },
  );
  const begin = (text: string, support = SUPPORTED) => turns.begin({ ...world.saying(text), support });
  return {
    ...world,
    engine,
    secrets,
    owner,
    browser: createTestBrowser({ publicUrl }),
    begin,
    beginForm: (fields: readonly object[]) => begin(`fields ${JSON.stringify(fields)}`),
    asked: () => waitUntil(async () => (await world.open())[0], { what: 'the question' }),
    async words(run: RunRef) {
      expect(await world.ended(run)).toBe('finished');
      return world.text(run);
    },
  };
}

/** Types the secret into the page of a question. */
async function type(pod: Awaited<ReturnType<typeof open>>, id: string, secret: string) {
  const shown = await pod.browser.enter(`/auth/connect/${id}`, pod.owner.userId);
  expect(shown.html).toContain('Deploy key');
  expect(shown.html).toContain('Echo');
  return pod.browser.submit(shown, 'secret', { secret });
}

describe('a secret that an agent asks for', () => {
  it('reaches the named tool once, and the model never [MCP25-01 MCP25-02 MCP26-01 MCP26-02]', async () => {
    const pod = await open();
    const secret = canary('deploy-key');
    const run = await pod.begin('for echo__echo times 2');
    const { id } = await pod.asked();
    expect((await type(pod, id, secret)).status).toBe(200);
    const words = await pod.words(run);
    expect(words).toContain(`"reference":"parley-secret:${id}"`);
    expect(words).toContain('[redacted]');
    expect(words).toContain('a secret works once');
    const everywhere = JSON.stringify([
      await pod.events(run),
      await pod.backend.runs.read(run),
      await pod.backend.conversations.read(run),
      model.current.requests,
    ]);
    expect(everywhere).not.toContain(secret);
  });

  it('may be a field among others: these are one form, and the secret goes to its page and its tool', async () => {
    const pod = await open();
    const secret = canary('deploy-key');
    const fields = [
      { name: 'env', prompt: 'Where to?', type: 'select', options: ['staging', 'production'] },
      { name: 'days', type: 'multi_choice', options: [{ value: 'mon', title: 'Monday' }, 'tue'] },
      { name: 'pods', type: 'number', required: false },
      { name: 'day', type: 'date' },
      { name: 'sure', type: 'boolean' },
      { name: 'note', prompt: 'A note?' },
      { name: 'key', prompt: 'Deploy key?', type: 'password' },
    ];
    const run = await pod.beginForm(fields);
    const form = await pod.asked();
    expect(form.definition).toMatchObject({ mode: 'form', message: 'Deploy?' });
    expect('requestedSchema' in form.definition && form.definition.requestedSchema).toEqual({
      type: 'object',
      properties: {
        env: {
          type: 'string',
          title: 'Where to?',
          oneOf: [
            { const: 'staging', title: 'staging' },
            { const: 'production', title: 'production' },
          ],
        },
        days: {
          type: 'array',
          title: 'days',
          items: {
            anyOf: [
              { const: 'mon', title: 'Monday' },
              { const: 'tue', title: 'tue' },
            ],
          },
        },
        pods: { type: 'number', title: 'pods' },
        day: { type: 'string', title: 'day', format: 'date' },
        sure: { type: 'boolean', title: 'sure' },
        note: { type: 'string', title: 'A note?', minLength: 1 },
      },
      required: ['env', 'days', 'day', 'sure', 'note'],
    });
    const content = { env: 'staging', days: ['mon'], day: '2026-12-01', sure: true, note: 'none' };
    await answerQuestion(pod.engine, pod.owner, form.id, 'accept', content);
    const { id } = await pod.asked();
    expect((await type(pod, id, secret)).status).toBe(200);
    const words = await pod.words(run);
    expect(words).toContain(JSON.stringify(content));
    expect(words).toContain(`"key":"parley-secret:${id}"`);
    expect(words).toContain('[redacted]');
    const everywhere = [await pod.events(run), await pod.backend.runs.read(run), model.current.requests];
    expect(JSON.stringify(everywhere)).not.toContain(secret);
  });

  it.each([
    ['two fields of one name', ['a', 'a'], {}, 'the same name'],
    ['a tool that does not exist', ['key'], { type: 'secret', for: 'nothing' }, 'one of echo__echo'],
    ['a type that does not exist', ['key'], { type: 'picture' }, 'not well formed'],
  ])('listed fields with %s are refused before anything is asked', async (_, names, more, expected) => {
    const pod = await open();
    const fields = names.map((name) => ({ name, ...more }));
    const run = await pod.beginForm(fields);
    expect(await pod.words(run)).toContain(expected);
    expect((await pod.engine.list({ owner: pod.owner, limit: 5 })).rows).toEqual([]);
  });

  describe('among listed fields', () => {
    const ENV = { name: 'env', prompt: 'Where to?' };
    const KEY = { name: 'key', prompt: 'Deploy key?', type: 'secret' };

    it('that is required and declined: the model gets what was answered and entered before', async () => {
      const pod = await open();
      const fields = [ENV, KEY, { ...KEY, name: 'second', prompt: 'Second key?' }];
      const run = await pod.beginForm(fields);
      await answerQuestion(pod.engine, pod.owner, (await pod.asked()).id, 'accept', { env: 'staging' });
      const { id } = await pod.asked();
      expect((await type(pod, id, canary('deploy-key'))).status).toBe(200);
      await answerQuestion(pod.engine, pod.owner, (await pod.asked()).id, 'decline');
      const words = await pod.words(run);
      expect(words).toContain('"status":"declined","field":"second"');
      expect(words).toContain('"answer":{"env":"staging"}');
      expect(words).toContain(`"references":{"key":"parley-secret:${id}"}`);
      // The reference is usable.
      expect(words).toContain('[redacted]');
    });

    it('that cannot be asked for: the model gets what was answered before', async () => {
      const pod = await open({ messageCharactersMax: 20 });
      const fields = [ENV, { ...KEY, prompt: 'The key with which it deploys?' }];
      const run = await pod.beginForm(fields);
      await answerQuestion(pod.engine, pod.owner, (await pod.asked()).id, 'accept', { env: 'staging' });
      const words = await pod.words(run);
      expect(words).toContain('"status":"not_asked","field":"key"');
      expect(words).toContain('message: must be at most 20 characters');
      expect(words).toContain('"answer":{"env":"staging"}');
    });

    it('that cannot be asked for, with nothing answered before: the call fails', async () => {
      const pod = await open({ messageCharactersMax: 20 });
      const fields = [{ ...KEY, prompt: 'The key with which it deploys?' }];
      const words = await pod.words(await pod.beginForm(fields));
      expect(words).toContain('message: must be at most 20 characters');
      expect(words).not.toContain('not_asked');
    });
  });

  it('has the message of the form on its page when all fields are secrets', async () => {
    const pod = await open();
    const fields = ['Deploy key?', 'Second key?'].map((prompt, at) => ({
      name: at === 0 ? 'key' : 'second',
      prompt,
      type: 'secret',
    }));
    await pod.beginForm(fields);
    for (const { prompt } of fields) {
      const { id, definition } = await pod.asked();
      expect(definition.message).toBe(`Deploy?\n\n${prompt}`);
      const shown = await pod.browser.enter(`/auth/connect/${id}`, pod.owner.userId);
      expect(shown.html).toContain(`Deploy?\n\n${prompt}`);
      await pod.browser.submit(shown, 'secret', { secret: canary('deploy-key') });
    }
  });

  it('is usable by its tool, its owner and its first taker only', async () => {
    const pod = await open();
    await pod.begin('for echo__echo times 0');
    const { id: elicitationId } = await pod.asked();
    const request = { owner: pod.owner, elicitationId, tool: 'echo__echo', taker: 'first' };
    expect(await pod.secrets.redeem(request)).toBeUndefined();
    await type(pod, elicitationId, 'a-typed-secret');
    expect(await pod.secrets.redeem({ ...request, tool: 'other' })).toBeUndefined();
    expect(await pod.secrets.redeem({ ...request, owner: newOwner() })).toBeUndefined();
    const takers = ['first', 'second', 'third'];
    const taken = await Promise.all(takers.map((taker) => pod.secrets.redeem({ ...request, taker })));
    expect(taken.filter((value) => value !== undefined)).toEqual(['a-typed-secret']);
    // A reply may have been lost: its first taker gets it again, and no other caller.
    const again = await Promise.all(takers.map((taker) => pod.secrets.redeem({ ...request, taker })));
    expect(again).toEqual(taken);
  });

  it('must name an existing tool; else the model gets the list of tools that can use one', async () => {
    const pod = await open();
    expect(await pod.words(await pod.begin('for nothing times 0'))).toContain('one of echo__echo');
  });

  it('is never asked for where the client cannot show the page', async () => {
    const pod = await open();
    const run = await pod.begin('for echo__echo times 0', { form: true, url: false });
    expect(await pod.words(run)).toContain('never ask for a secret in plain text');
  });
});

describe('a call whose arguments refer to secrets', () => {
  const known = (values: Readonly<Record<string, string>>, taken: string[] = []): Secrets => ({
    awaits: async ({ elicitationId }) => elicitationId in values,
    async redeem({ elicitationId }) {
      taken.push(elicitationId);
      return values[elicitationId];
    },
  });
  const toolBy = (call: Tool['call']): Tool => ({
    name: 'take',
    description: 'Takes.',
    inputSchema: { type: 'object', properties: {} },
    call,
  });
  const callOf = (input: unknown): ToolCall => ({
    toolCallId: 'call',
    callKey: 'run call',
    input,
    reach: () => 'client',
    waiting: (wait) => wait(),
    work: () => () => undefined,
    holdMs: 0,
    rest: (_ms, pause) => pause(),
    isAttended: true,
    hops: 0,
    signal: new AbortController().signal,
    released: new AbortController().signal,
    ask: async () => Promise.reject(new Error('nobody is asked')),
    delegate: async () => Promise.reject(new Error('nobody is asked')),
    beforeDispatch: async () => input,
    notExecuted: async () => undefined,
    approve: async ({ args }) => ({ type: 'granted', input: args, isEdited: false }),
    round: () => undefined,
    saveRound: async () => undefined,
    appendEvent: async () => undefined,
  });
  const owner = newOwner();

  it('consumes none of them when the call is not sent', async () => {
    const taken: string[] = [];
    const refusing = toolBy(async () => ({ type: 'failed', message: 'Not connected.' }));
    const tool = withSecretsRedeemed(refusing, known({ one: 'first-secret' }, taken), owner);
    expect(await tool.call(callOf({ key: 'parley-secret:one' }))).toMatchObject({ type: 'failed' });
    expect(taken).toEqual([]);
  });

  it('consumes none of them when one of them is not available', async () => {
    const taken: string[] = [];
    const tool = withSecretsRedeemed(
      toolBy(async ({ beforeDispatch }) => ({ type: 'returned', output: await beforeDispatch() })),
      known({ one: 'first-secret' }, taken),
      owner,
    );
    const outcome = await tool.call(callOf({ keys: ['parley-secret:one', 'parley-secret:two'] }));
    expect(outcome).toMatchObject({ type: 'failed', message: expect.stringContaining('parley-secret:two') });
    expect(taken).toEqual([]);
  });

  it('consumes each once, however often the call is sent', async () => {
    const taken: string[] = [];
    const sent: unknown[] = [];
    const twice = toolBy(async ({ beforeDispatch }) => {
      sent.push(await beforeDispatch(), await beforeDispatch());
      return { type: 'returned', output: 'done' };
    });
    await withSecretsRedeemed(twice, known({ one: 'first-secret' }, taken), owner).call(
      callOf({ key: 'parley-secret:one' }),
    );
    expect(taken).toEqual(['one']);
    expect(sent).toEqual([{ key: 'first-secret' }, { key: 'first-secret' }]);
  });

  it.each(['493027', 'a-long-secret'])('keeps the secret %s from what a page shows', async (secret) => {
    const paged = async (type: 'returned' | 'failed', call: ToolCall) => {
      const result = {
        content: [{ type: 'text', text: `for ${secret}` }],
        echo: await call.beforeDispatch(),
      };
      const page = { pageId: 'a~b', server: 's', service: 'S', tool: 't', uri: 'ui://x', result };
      return { type, output: '', message: '', page } as const;
    };
    for (const type of ['returned', 'failed'] as const) {
      const tool = toolBy((call) => paged(type, call));
      const outcome = await withSecretsRedeemed(tool, known({ one: secret }), owner).call(
        callOf({ code: 'parley-secret:one' }),
      );
      expect(outcome.type).toBe(type);
      expect(JSON.stringify(outcome)).not.toContain(secret);
    }
  });

  it.each(['493027', 'ü7"'])('removes every repetition of the short secret %s', async (secret) => {
    const repeating = toolBy(async ({ beforeDispatch }) => {
      await beforeDispatch();
      return { type: 'failed', message: `The code ${secret} is wrong.` };
    });
    const telling = toolBy(async ({ beforeDispatch }) => ({
      type: 'returned',
      output: { said: await beforeDispatch() },
    }));
    for (const tool of [repeating, telling]) {
      const outcome = await withSecretsRedeemed(tool, known({ one: secret }), owner).call(
        callOf({ code: 'parley-secret:one' }),
      );
      expect(JSON.stringify(outcome)).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
  });
});

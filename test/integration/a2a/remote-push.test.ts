/** A remote agent, the stock server of `@a2a-js/sdk`, that pushes the updates of its tasks to a Parley. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { DETACHED } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Backend } from '@parley/shared/ports/backend';
import type { Env } from '@parley/shared/runtime/env';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ScriptedModel } from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { createRouter } from '../../../services/api/src/http/router.ts';
import { createServe } from '../../../services/api/src/http/serve.ts';
import { unauthenticated } from '../../../services/api/src/http/token.ts';
import { wirePushesOf, wireReceivedPushes } from '../../../services/api/src/wiring/a2a-pushes.ts';
import type { PodParts } from '../../../services/api/src/wiring/pod-parts.ts';
import { type RemoteAgentOptions, startRemoteAgent } from '../../harness/a2a/remote-agent.ts';
import {
  type Begun,
  openRemotePod,
  outcomeOf,
  questions,
  startHandingModel,
} from '../../harness/a2a/remote-site.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { readEvents } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let model: ScriptedModel;
beforeAll(async () => {
  // The stock server reports its pushes there.
  for (const method of ['error', 'info', 'warn'] as const) vi.spyOn(console, method).mockReturnValue();
  model = await startHandingModel();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await model.stop();
});

/** A Parley with an address for pushes, of which another pod than that of the turn serves the address. */
async function open(remote: RemoteAgentOptions = {}, entry = '', wrap = (backend: Backend) => backend) {
  const backend = wrap(createMemoryBackend(ROOMY));
  const server = createServer();
  const env = {
    NODE_ENV: 'test',
    PARLEY_A2A_URL: `http://127.0.0.1:${await listenOnFreePort(server)}`,
    PARLEY_VAULT_KEYS: [`k:${randomBytes(32).toString('base64')}`],
  } as unknown as Env;
  const limited: unknown[] = [];
  const metrics = { rateLimited: { add: (_: number, labels: unknown) => limited.push(labels) } };
  const router = createRouter({
    surfaces: wireReceivedPushes({ env, backend, metrics } as unknown as PodParts),
    corsOrigins: [],
    serve: createServe({
      authenticate: async () => {
        throw unauthenticated();
      },
      limits: callLimitsOn(backend.limits, {}),
      bodyBytesMax: 1_000,
      sse: { heartbeatMs: 100, slowReaderMs: 5_000, draining: new AbortController().signal },
      onDone: () => undefined,
      onFault: (error) => process.stderr.write(`${String(error)}\n`),
      onStream: () => undefined,
    }),
  });
  const replies: number[] = [];
  server.on('request', (request, response) => {
    response.on('finish', () => replies.push(response.statusCode));
    router(request, response);
  });
  const agent = await startRemoteAgent({ streaming: false, push: true, ...remote });
  const pod = (name: string) =>
    openRemotePod({
      model,
      backend,
      cardUrl: agent.url,
      pod: name,
      entry: `, credentialScope: none${entry}`,
      pushesOf: wirePushesOf({ env, backend }),
    });
  const first = pod('first');
  onTestFinished(async () => {
    await first.close();
    server.closeAllConnections();
    server.close();
    await agent.stop();
    await backend.close();
  });
  return { backend, agent, first, pod, replies };
}

/** The registration of the only task of an agent. */
async function registration({ agent }: Pick<Awaited<ReturnType<typeof open>>, 'agent'>) {
  return waitUntil(async () => (await agent.pushTargets(agent.begun[0] ?? ''))[0], {
    what: 'the registration',
  });
}

function whenDetached({ backend }: Pick<Awaited<ReturnType<typeof open>>, 'backend'>, { run }: Begun) {
  return waitUntil(async () => (await backend.runs.standing(run))?.owner === DETACHED, {
    what: 'the turn to be detached',
  });
}

describe('a remote agent that pushes', () => {
  it('resumes a turn that no pod has, on any pod, and a question that it asks no longer ends', async () => {
    const site = await open();
    const begun = await site.first.handOver('page', { delivery: 'detach' });
    await questions(site.first, begun);
    await registration(site);
    await whenDetached(site, begun);
    await site.first.close();
    const second = site.pod('second');
    onTestFinished(() => second.close());
    site.agent.release(site.agent.begun[0] ?? '');
    expect(await outcomeOf(second, begun)).toBe('Authorized.');
    expect(await questions(second, begun, 0)).toEqual([]);
    expect(site.agent.begun).toHaveLength(1);
    expect(site.agent.messages).toHaveLength(1);
  });

  it('while the turn is being detached has it resumed', async () => {
    let isDetaching = false;
    let detach: () => void = () => undefined;
    const mayDetach = new Promise<void>((resolve) => {
      detach = resolve;
    });
    const site = await open({}, '', (backend) => ({
      ...backend,
      runs: {
        ...backend.runs,
        async write(run, write) {
          if (write.detach !== undefined) {
            isDetaching = true;
            await mayDetach;
          }
          return backend.runs.write(run, write);
        },
      },
    }));
    const begun = await site.first.handOver('page', { delivery: 'detach' });
    await questions(site.first, begun);
    await registration(site);
    await waitUntil(() => isDetaching, { what: 'the turn to be detached' });
    const { length } = site.replies;
    site.agent.release(site.agent.begun[0] ?? '');
    await waitUntil(() => site.replies.length > length, { what: 'the push' });
    detach();
    expect(await outcomeOf(site.first, begun)).toBe('Authorized.');
  });

  it('proves its token and names its task, or is refused; what is repeated or late changes nothing [A2A-35]', async () => {
    const site = await open();
    const { agent, first } = site;
    const begun = await first.handOver('page');
    const [asked] = await questions(first, begun);
    const { url, token } = await registration(site);
    const taskId = agent.begun[0] ?? '';
    const update = (id: string) => ({
      statusUpdate: { taskId: id, status: { state: 'TASK_STATE_COMPLETED' } },
    });
    const push = async (
      {
        headers = { 'x-a2a-notification-token': token },
        body = update(taskId) as unknown,
        to = url,
      } = {} as {
        headers?: Record<string, string>;
        body?: unknown;
        to?: string;
      },
    ) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const reply = await fetch(to, { method: 'POST', headers, body: text });
      expect(await reply.text()).not.toContain(taskId);
      return reply.status;
    };
    const { length } = agent.requests;
    expect(await push({ headers: {} })).toBe(401);
    expect(await push({ headers: { 'x-a2a-notification-token': `${token}x` } })).toBe(401);
    expect(await push({ headers: { authorization: `Basic ${token}` } })).toBe(401);
    const both = { authorization: 'Bearer x', 'x-a2a-notification-token': token };
    expect(await push({ headers: both })).toBe(401);
    expect(await push({ to: `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}` })).toBe(404);
    expect(await push({ to: `${new URL(url).origin}/run/a2a-pushed/x` })).toBe(404);
    expect(await push({ body: update('another') })).toBe(404);
    expect(await push({ body: 'x' })).toBe(400);
    expect(await push({ body: { task: {} } })).toBe(400);
    expect(await push({ body: JSON.stringify({ ...update(taskId), padding: 'x'.repeat(1_100_000) }) })).toBe(
      413,
    );
    expect(agent.requests.length - length).toBeLessThan(12);

    // What a push says about the task is not believed: the task still waits.
    expect(await push()).toBe(204);
    expect(await push({ headers: { authorization: `Bearer ${token}` } })).toBe(204);
    expect(await push({ body: { kind: 'status-update', taskId } })).toBe(204);
    expect(await push({ body: { kind: 'task', id: taskId } })).toBe(204);
    expect(await push({ body: { artifactUpdate: { taskId } } })).toBe(204);
    const [still] = await questions(first, begun);
    expect(still?.id).toBe(asked?.id);

    agent.release(taskId);
    expect(await outcomeOf(first, begun)).toBe('Authorized.');
    expect(await push()).toBe(410);
    expect(agent.messages).toHaveLength(1);
  });

  it('again and again about a turn that no pod has, has it resumed once in a while', async () => {
    const site = await open();
    const begun = await site.first.handOver('page', { delivery: 'detach' });
    await questions(site.first, begun);
    const { url, token } = await registration(site);
    const headers = { 'x-a2a-notification-token': token };
    const body = JSON.stringify({ task: { id: site.agent.begun[0] } });
    for (let pushes = 0; pushes < 4; pushes += 1) {
      await whenDetached(site, begun);
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(204);
    }
    await whenDetached(site, begun);
    const events = await readEvents(site.backend, begun.run);
    expect(events.filter(({ type }) => type === 'turn-attached').length).toBeLessThanOrEqual(1);
    await site.first.turns.stop(begun.conversation);
  });

  it('is refused over the budget of the task', async () => {
    const site = await open();
    const begun = await site.first.handOver('page');
    await questions(site.first, begun);
    const { url, token } = await registration(site);
    const taskId = site.agent.begun[0] ?? '';
    const push = () =>
      fetch(url, {
        method: 'POST',
        headers: { 'x-a2a-notification-token': token },
        body: JSON.stringify({ task: { id: taskId } }),
      });
    const replies = await Promise.all(Array.from({ length: 80 }, push));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
    await site.first.turns.stop(begun.conversation);
  });

  it.each([
    ['refuses the registration', { push: 'refused' }, ''],
    ['offers none', { push: undefined }, ''],
    ['is configured not to', {}, ', push: false'],
    ['speaks 0.3', { binding: 'JSONRPC 0.3' }, ''],
  ] as const)('is followed as others where it %s', async (_, remote, entry) => {
    const site = await open(remote as RemoteAgentOptions, entry);
    const begun = await site.first.handOver('page');
    await questions(site.first, begun);
    if ('binding' in remote) await registration(site);
    else expect(await site.agent.pushTargets(site.agent.begun[0] ?? '')).toEqual([]);
    site.agent.release(site.agent.begun[0] ?? '');
    expect(await outcomeOf(site.first, begun)).toBe('Authorized.');
  });
});

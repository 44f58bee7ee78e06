/** A remote agent, the stock server of `@a2a-js/sdk`, that pushes the updates of its tasks to a Parley. */
import { randomBytes } from 'node:crypto';
import type { Env } from '@parley/shared/config/env';
import type { Backend } from '@parley/shared/ports/backend';
import { describe, expect, it } from 'vitest';
import { wirePushesOf, wireReceivedPushes } from '../../../services/api/src/wiring/a2a-pushes.ts';
import type { PodParts } from '../../../services/api/src/wiring/pod-parts.ts';
import { type RemoteAgentOptions, startRemoteAgent } from '../../harness/a2a/remote-agent.ts';
import { remotePodsInFile } from '../../harness/a2a/remote-site.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import {
  closeAfterTest,
  outcomeOf,
  questionId,
  questions,
  whenDetached,
} from '../../harness/protocols/delegating-pod.ts';
import { serveSurfaces } from '../../harness/protocols/served.ts';
import { readEvents } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const remotePods = remotePodsInFile();

/** Budgets that are not filled again during a test, however long the test takes. */
const withoutRefill = (backend: Backend): Backend => ({
  ...backend,
  limits: {
    ...backend.limits,
    take: (name, owner, rate) => backend.limits.take(name, owner, { ...rate, windowSeconds: 3_600 }),
  },
});

/** A Parley with an address for pushes, of which another pod than that of the turn serves the address. */
async function open(remote: RemoteAgentOptions = {}, entry = '', wrap = (backend: Backend) => backend) {
  const backend = remotePods.openBackend((one) => wrap(withoutRefill(one)));
  const env = { NODE_ENV: 'test', PARLEY_VAULT_KEYS: [`k:${randomBytes(32).toString('base64')}`] };
  const metrics = { rateLimited: { add: () => undefined } };
  const replies: number[] = [];
  const served = await serveSurfaces(
    (url) =>
      wireReceivedPushes({ env: { ...env, PARLEY_A2A_URL: url }, backend, metrics } as unknown as PodParts),
    { limits: callLimitsOn(backend.limits), onReply: (status) => replies.push(status) },
  );
  const agent = await startRemoteAgent({ streaming: false, push: true, ...remote });
  closeAfterTest(agent.stop, served.stop);
  const pod = (name: string) =>
    remotePods.openPod({
      backend,
      cardUrl: agent.url,
      pod: name,
      entry: `, credentialScope: none${entry}`,
      pushesOf: wirePushesOf({ env: { ...env, PARLEY_A2A_URL: served.url } as unknown as Env, backend }),
    });
  return { backend, agent, first: pod('first'), pod, replies };
}
type Site = Awaited<ReturnType<typeof open>>;

const release = ({ agent }: Site) => agent.release(agent.begun[0] ?? '');

/** The registration of the only task of an agent. */
const registration = ({ agent }: Site) =>
  waitUntil(async () => (await agent.pushTargets(agent.begun[0] ?? ''))[0], { what: 'the registration' });

/** A turn whose task waits for an authorization, with the address for its pushes. */
async function waitingTask(site: Site, delivery: 'hold' | 'detach' = 'hold') {
  const begun = await site.first.handOver('page', { delivery });
  const asked = await questionId(site.first, begun);
  const { url, token } = await registration(site);
  const taskId = site.agent.begun[0] ?? '';
  const push = ({
    headers = { 'x-a2a-notification-token': token } as Record<string, string>,
    body = { task: { id: taskId } } as unknown,
    to = url,
  } = {}) =>
    fetch(to, { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  return { begun, asked, url, token, taskId, push };
}

describe('a remote agent that pushes', () => {
  it('resumes a turn that no pod has, on any pod, and a question that it asks no longer ends', async () => {
    const site = await open();
    const { begun } = await waitingTask(site, 'detach');
    await whenDetached(site.backend, begun);
    await site.first.close();
    const second = site.pod('second');
    release(site);
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
    const { begun } = await waitingTask(site, 'detach');
    await waitUntil(() => isDetaching, { what: 'the turn to be detached' });
    const { length } = site.replies;
    release(site);
    await waitUntil(() => site.replies.length > length, { what: 'the push' });
    detach();
    expect(await outcomeOf(site.first, begun)).toBe('Authorized.');
  });

  it('proves its token and names its task, or is refused; what is repeated or late changes nothing [A2A-35]', async () => {
    const site = await open();
    const { begun, asked, url, token, taskId, ...task } = await waitingTask(site);
    const update = { statusUpdate: { taskId, status: { state: 'TASK_STATE_COMPLETED' } } };
    const push = async (given: Parameters<typeof task.push>[0] = {}) => {
      const reply = await task.push({ body: update, ...given });
      expect(await reply.text()).not.toContain(taskId);
      return reply.status;
    };
    const header = 'x-a2a-notification-token';
    const hints: unknown[] = [];
    const { unsubscribe } = site.backend.pushedCalls.subscribe(begun.run, (signal) => {
      if (signal.type !== 'resync') hints.push(signal);
    });
    const refused = [
      [401, { headers: {} }],
      [401, { headers: { [header]: `${token}x` } }],
      [401, { headers: { authorization: `Basic ${token}` } }],
      [401, { headers: { authorization: 'Bearer x', [header]: token } }],
      [404, { to: `${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}` }],
      [404, { to: `${new URL(url).origin}/run/a2a-pushed/x` }],
      [404, { body: { statusUpdate: { ...update.statusUpdate, taskId: 'another' } } }],
      [400, { body: 'x' }],
      [400, { body: { task: {} } }],
      [413, { body: { ...update, padding: 'x'.repeat(1_100_000) } }],
    ] as const;
    // What a push says about the task is not believed: the task still waits.
    const taken = [
      [204, {}],
      [204, { headers: { authorization: `Bearer ${token}` } }],
      [204, { body: { kind: 'status-update', taskId } }],
      [204, { body: { kind: 'task', id: taskId } }],
      [204, { body: { artifactUpdate: { taskId } } }],
    ] as const;
    for (const [status, given] of refused) expect([await push(given), given]).toEqual([status, given]);
    expect(hints).toEqual([]);
    for (const [status, given] of taken) expect([await push(given), given]).toEqual([status, given]);
    expect(hints.length).toBeGreaterThan(0);
    unsubscribe();
    expect(await questionId(site.first, begun)).toBe(asked);
    release(site);
    expect(await outcomeOf(site.first, begun)).toBe('Authorized.');
    expect(await push()).toBe(410);
    expect(site.agent.messages).toHaveLength(1);
  });

  it('to any address has the vault read once, and not for what is no address', async () => {
    let reads = 0;
    const site = await open({}, '', (backend) => ({
      ...backend,
      vault: {
        ...backend.vault,
        read(ref) {
          reads += 1;
          return backend.vault.read(ref);
        },
      },
    }));
    const { begun, url, push } = await waitingTask(site);
    reads = 0;
    const statuses = async (...urls: string[]) =>
      (await Promise.all(urls.map((to) => push({ to })))).map(({ status }) => status);
    const others = [
      'x',
      url.slice(0, url.lastIndexOf('.')),
      url.replace('.own.', '.k.'),
      `${url}A`.repeat(9),
    ];
    expect(await statuses(...others.map((text) => new URL(text, url).href))).toEqual([404, 404, 404, 404]);
    expect(reads).toBe(0);
    const forged = url.replace(/own\.../, 'own.__');
    expect(await statuses(forged, forged, url)).toEqual([404, 404, 204]);
    expect(await statuses(forged, url)).toEqual([404, 204]);
    expect(reads).toBe(1);
    await site.first.turns.stop(begun.conversation);
  });

  it('again and again about a turn that no pod has, has it resumed once in a while', async () => {
    const site = await open();
    const { begun, push } = await waitingTask(site, 'detach');
    for (let pushes = 0; pushes < 4; pushes += 1) {
      await whenDetached(site.backend, begun);
      expect((await push()).status).toBe(204);
    }
    await whenDetached(site.backend, begun);
    const events = await readEvents(site.backend, begun.run);
    expect(events.filter(({ type }) => type === 'turn-attached').length).toBeLessThanOrEqual(1);
    await site.first.turns.stop(begun.conversation);
  });

  it('is refused over the budget of the task', async () => {
    const site = await open();
    const { begun, push } = await waitingTask(site);
    const replies = await Promise.all(Array.from({ length: 52 }, () => push()));
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(1);
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
    release(site);
    expect(await outcomeOf(site.first, begun)).toBe('Authorized.');
  });
});

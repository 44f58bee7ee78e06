/** A Parley whose agent delegates to an agent of another Parley, which runs on two pods behind random routing. */
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ScriptedModel } from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { asTask, say, stateOf, textOf } from '../../harness/a2a/messages.ts';
import {
  answer,
  openRemotePod,
  outcomeOf,
  questions,
  type RemotePodOptions,
  startHandingModel,
} from '../../harness/a2a/remote-site.ts';
import { type A2aSite, openA2aSite, openClient, PAGE_URL, serve } from '../../harness/a2a/setup.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { createRoundRobin } from '../../harness/http/round-robin.ts';
import { listOpen, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let model: ScriptedModel;
let site: A2aSite;
let balancer: Awaited<ReturnType<typeof createRoundRobin>>;
beforeAll(async () => {
  // Without an origin, a card names the host that its reader has called: the balancer.
  const settings = { origin: undefined as never };
  [model, site] = await Promise.all([startHandingModel(), openA2aSite({ settings })]);
  const targets = site.pods.map(({ url }, index) => ({ name: `pod-${index}`, url }));
  balancer = await createRoundRobin({ targets, pick: 'random', healthPath: false });
});
afterAll(async () => {
  await balancer.close();
  await site.stop();
  await model.stop();
});

/** A pod of the calling Parley. Its person has the same ids in both. */
function open(agent: 'helper' | 'speaker', more: Partial<RemotePodOptions> = {}) {
  const backend = createMemoryBackend(ROOMY);
  const conversation = talk();
  const { tenant, userId } = conversation;
  const isKey = agent === 'speaker';
  const pod = openRemotePod({
    model,
    backend,
    cardUrl: `${balancer.url}/run/a2a/${agent}/`,
    entry: isKey
      ? `, credentialScope: project, headersFromEnv: { Authorization: KEY }, userHeader: Parley-User, userTenant: ${tenant}`
      : ', credentialScope: user, connector: other',
    file: 'connectors:\n  other: { type: api_key, title: Other, instructions: Ask them. }\n',
    env: { KEY: `Bearer key/${tenant}` },
    credentials: {
      present: async () => ({
        type: 'presented',
        headers: { Authorization: `Bearer ${tenant}/${userId}` },
        version: 1,
      }),
      refused: async () => undefined,
      promote: async () => undefined,
      completeOpen: async () => undefined,
    },
    ...more,
  });
  onTestFinished(async () => {
    await pod.close();
    await backend.close();
  });
  const remotely = () => listOpen(site.pods[0]?.engine as never, conversation);
  return { pod, conversation, remotely };
}

describe('a Parley that calls another one', () => {
  it.each(['helper', 'speaker'] as const)(
    'asks all open questions of its agent %s at once, and their answers continue the task',
    async (agent) => {
      const { pod, conversation, remotely } = open(agent);
      const begun = await pod.handOver('trip text', { conversation });
      const asked = await questions(pod, begun, 2);
      const trip = asked.find(({ definition }) => definition.message === 'How do you travel?');
      expect(trip?.definition).toMatchObject({
        title: 'Travel Desk asks',
        requestedSchema: { properties: { seat: { enum: ['window', 'aisle'] }, bags: { type: 'integer' } } },
      });
      await answer(pod, begun, trip?.id ?? '', { action: 'accept', content: { seat: 'aisle', bags: 2 } });
      // An answer is not held back for the other question.
      await waitUntil(async () => (await remotely()).length === 1, {
        what: 'one answer at the other Parley',
      });
      const text = asked.find(({ id }) => id !== trip?.id);
      await answer(pod, begun, text?.id ?? '', { action: 'accept', content: { answer: 'red' } });
      const outcome = await outcomeOf(pod, begun);
      expect(outcome).toContain('"seat":"aisle"');
      expect(outcome).toContain('red');
    },
  );

  it('takes a question back that the person answers at the other one', async () => {
    const { pod, conversation, remotely } = open('speaker');
    const support = { form: true, url: true, hops: 2 };
    const begun = await pod.handOver('text', { conversation, support });
    await questions(pod, begun);
    const [there] = await remotely();
    const { streamRequestId = '' } = there?.definition ?? {};
    const delegated = await site.pods[0]?.backend.runs.read({ ...conversation, streamRequestId });
    expect(delegated?.run?.support.hops).toBe(3);
    const engine = site.pods[1]?.engine;
    const { tenant, userId } = conversation;
    await engine?.answer({
      caller: { kind: 'user', tenant, userId },
      id: there?.id ?? '',
      response: { action: 'accept', content: { answer: 'green' } },
      surface: 'test',
    });
    expect(await outcomeOf(pod, begun)).toContain('green');
    expect(await questions(pod, begun, 0)).toEqual([]);
  });

  it('is auth-required itself while its agent waits for a page [A2A-25]', async () => {
    const { pod, conversation, remotely } = open('helper');
    const { tenant, userId } = conversation;
    const { server, pod: surface } = await serve(pod, { origin: undefined as never }, {});
    onTestFinished(() => void server.close());
    const client = await openClient({ pods: [surface] }, { token: `${tenant}/${userId}` });
    const sent = await asTask(client.sendMessage(say('page')));
    expect(stateOf(sent)).toBe('AUTH_REQUIRED');
    expect(JSON.stringify(sent.status?.message)).toContain(PAGE_URL);
    const [here] = await questions(pod, { conversation });
    await answer(pod, { conversation }, here?.id ?? '', { action: 'accept' });
    const [there] = await remotely();
    const caller = { kind: 'service', tenant } as const;
    await site.pods[0]?.engine.complete({ caller, id: there?.id ?? '', surface: 'test' });
    const ended = await waitUntil(
      async () => {
        const task = await client.getTask({ id: sent.id, tenant: '' });
        return stateOf(task) === 'COMPLETED' && task;
      },
      { what: 'the end of both tasks' },
    );
    expect(textOf(ended)).toContain('Heard: accepted');
  });
});

/** A Parley whose agent delegates to an agent of another Parley, which runs on two pods behind random routing. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { stateOf, tasksOf, textOf } from '../../harness/a2a/messages.ts';
import { presenting, type RemotePodOptions, remotePodsInFile } from '../../harness/a2a/remote-site.ts';
import { type A2aSite, a2aSurface, openA2aSite, openClient } from '../../harness/a2a/setup.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { createRoundRobin } from '../../harness/http/round-robin.ts';
import {
  answer,
  answerText,
  outcomeOf,
  questionId,
  questions,
} from '../../harness/protocols/delegating-pod.ts';
import { finishPage, PAGE_URL, serveOn } from '../../harness/protocols/pods.ts';
import { listOpen, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

// Without an origin, a card names the host that its reader has called: the balancer.
const settings = { origin: undefined as never };
const remotePods = remotePodsInFile();
let site: A2aSite;
let balancer: Awaited<ReturnType<typeof createRoundRobin>>;
beforeAll(async () => {
  site = await openA2aSite({ settings });
  const targets = site.pods.map(({ url }, index) => ({ name: `pod-${index}`, url }));
  balancer = await createRoundRobin({ targets, pick: 'random', healthPath: false });
});
afterAll(async () => {
  await balancer.close();
  await site.stop();
});

/** A pod of the calling Parley. Its person has the same ids in both. */
function open(agent: 'helper' | 'speaker') {
  const conversation = talk();
  const { tenant, userId } = conversation;
  const headers = { Authorization: `Bearer ${tenant}/${userId}` };
  const options: RemotePodOptions = {
    backend: remotePods.openBackend(),
    cardUrl: `${balancer.url}/run/a2a/${agent}/`,
    entry:
      agent === 'speaker'
        ? `, credentialScope: project, headersFromEnv: { Authorization: KEY }, userHeader: Parley-User, userTenant: ${tenant}`
        : ', credentialScope: user, connector: other',
    file: 'connectors:\n  other: { type: api_key, title: Other, instructions: Ask them. }\n',
    env: { KEY: `Bearer key/${tenant}` },
    credentials: presenting(async () => ({ type: 'presented', headers, version: 1 })),
  };
  const remotely = () => listOpen(site.pods[0].engine, conversation);
  return { pod: remotePods.openPod(options), conversation, remotely };
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
      await answerText(pod, begun, 'red');
      const outcome = await outcomeOf(pod, begun);
      for (const heard of ['"seat":"aisle"', 'red']) expect(outcome).toContain(heard);
    },
  );

  it('takes a question back that the person answers at the other one', async () => {
    const { pod, conversation, remotely } = open('speaker');
    const support = { form: true, url: true, hops: 2 };
    const begun = await pod.handOver('text', { conversation, support });
    await questions(pod, begun);
    const [there] = await remotely();
    const { streamRequestId = '' } = there?.definition ?? {};
    const delegated = await site.pods[0].backend.runs.read({ ...conversation, streamRequestId });
    expect(delegated.run?.support.hops).toBe(3);
    await answerQuestion(site.pods[1].engine, conversation, there?.id ?? '', 'accept', { answer: 'green' });
    expect(await outcomeOf(pod, begun)).toContain('green');
    expect(await questions(pod, begun, 0)).toEqual([]);
  });

  it('is auth-required itself while its agent waits for a page [A2A-25]', async () => {
    const { pod, conversation, remotely } = open('helper');
    const { tenant, userId } = conversation;
    const served = await serveOn(pod, { surfaceOf: a2aSurface(settings) });
    onTestFinished(served.stop);
    const tasks = tasksOf(await openClient({ pods: [served] }, { token: `${tenant}/${userId}` }));
    const sent = await tasks.send('page');
    expect(stateOf(sent)).toBe('AUTH_REQUIRED');
    expect(JSON.stringify(sent.status?.message)).toContain(PAGE_URL);
    await answer(pod, { conversation }, await questionId(pod, { conversation }), { action: 'accept' });
    await finishPage(site.pods[0].engine, conversation, (await remotely())[0]?.id ?? '');
    const ended = await waitUntil(
      async () => {
        const task = await tasks.get(sent.id);
        return stateOf(task) === 'COMPLETED' && task;
      },
      { what: 'the end of both tasks' },
    );
    expect(textOf(ended)).toContain('Heard: accepted');
  });
});

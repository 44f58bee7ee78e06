import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  type RemoteAgent,
  type RemoteAgentOptions,
  startRemoteAgent,
} from '../../harness/a2a/remote-agent.ts';
import { remotePodsInFile } from '../../harness/a2a/remote-site.ts';
import { sized } from '../../harness/proof-size.ts';
import {
  answerText,
  answerUntilOver,
  type Begun,
  outcomeOf,
  questions,
  whenDetached,
} from '../../harness/protocols/delegating-pod.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { createDyingBackend, DEATHS, type Death } from '../turns/dying-backend.ts';

const remotePods = remotePodsInFile();
const { openBackend, openPod } = remotePods;
let agent: RemoteAgent;
beforeAll(async () => {
  agent = await startRemoteAgent();
});
afterAll(() => agent.stop());

async function startAgent(options: RemoteAgentOptions): Promise<RemoteAgent> {
  const started = await startRemoteAgent(options);
  onTestFinished(started.stop);
  return started;
}

/** A detached turn whose remote task asks its person, and the pod that began it. */
async function detachedTurn(words = 'ask', options: { cardUrl?: string; delegate?: string } = {}) {
  const backend = openBackend();
  const given = { backend, cardUrl: agent.url, ...options };
  const first = openPod({ ...given, pod: 'first' });
  const begun = await first.handOver(words, { delivery: 'detach' });
  await questions(first, begun);
  await whenDetached(backend, begun);
  return { first, begun, given };
}

/** A detached turn, whose pod has closed; a second one has not met it yet. */
async function turnThatWaitsOnNoPod(...of: Parameters<typeof detachedTurn>) {
  const { first, begun, given } = await detachedTurn(...of);
  await first.close();
  return { begun, second: openPod({ ...given, pod: 'second' }) };
}
type Waiting = Awaited<ReturnType<typeof turnThatWaitsOnNoPod>>;

async function answerOn({ second, begun }: Waiting) {
  await answerText(second, begun, 'blue');
  await second.turns.resumable(begun.conversation, undefined);
}

/** A turn whose pod dies at a write while it has a remote agent do a task that asks once. */
async function turnThatLoses(death: Death) {
  const backend = openBackend();
  const { state, ...dying } = createDyingBackend(backend, death.when, (_write, count) => count === death.at);
  const leaseTiming = { renewMs: 20, leaseMs: 60_000 };
  const given = { backend, cardUrl: agent.url };
  const first = openPod({ ...given, pod: 'first', mayDie: true, turns: { ...dying, leaseTiming } });
  // The lease of the first pod lasts as long as the pod lives, however slow the machine is.
  const alive = async (owner: string) => !state.dead || !owner.startsWith('first');
  const heartbeats = { ...backend.heartbeats, alive };
  const second = openPod({ ...given, pod: 'second', turns: { heartbeats, leaseTiming } });
  const begunBefore = agent.begun.length;
  const sentBefore = agent.messages.length;
  const begun: Begun = await first.handOver('ask');
  const answered = await answerUntilOver(
    second,
    begun,
    `the end of a turn whose pod died at write ${death.at}`,
  );
  return {
    text: await outcomeOf(second, begun),
    tasks: agent.begun.length - begunBefore,
    messages: agent.messages.length - sentBefore,
    answered: answered.size,
    writes: state.writes,
    died: state.dead,
  };
}

describe('a turn that waits for a remote task', () => {
  it.each(DEATHS)('continues the same task on another pod when its pod dies at a write, %s', async (when) => {
    const { writes, text } = await turnThatLoses({ at: Number.POSITIVE_INFINITY, when });
    expect(text).toBe('Heard: red');
    let finished = 0;
    // A death before the reply to a write differs little from one before the next write is made.
    const step = sized(1, when === 'before its reply' ? 3 : 1);
    for (let at = 1; at <= writes; at += step) {
      const turn = await turnThatLoses({ at, when });
      if (!turn.died) continue;
      if (turn.tasks === 0) {
        expect(turn.text, `write ${at}`).toContain('Whether it was begun is not known.');
        continue;
      }
      finished += 1;
      const whole = { text: 'Heard: red', tasks: 1, messages: 2, answered: 1, writes: 0, died: true };
      expect({ ...turn, writes: 0 }, `write ${at}`).toEqual(whole);
    }
    expect(finished).toBeGreaterThan(3 / step);
  });

  it('leaves its pod while the person thinks, and another pod sends their answer', async () => {
    const waiting = await turnThatWaitsOnNoPod();
    const { length } = agent.begun;
    await answerOn(waiting);
    expect(await outcomeOf(waiting.second, waiting.begun)).toBe('Heard: blue');
    expect(agent.begun).toHaveLength(length);
  });

  it('finds its task again when the agent, its card included, was missing for some time', async () => {
    onTestFinished(() => agent.cut(false));
    const waiting = await turnThatWaitsOnNoPod();
    agent.cut('missing');
    const requests = agent.requests.length;
    const sent = agent.messages.length;
    await answerOn(waiting);
    await waitUntil(() => agent.requests.length > requests + 1, { what: 'two attempts to get the card' });
    agent.cut(false);
    expect(await outcomeOf(waiting.second, waiting.begun)).toBe('Heard: blue');
    expect(agent.messages).toHaveLength(sent + 1);
  });

  it.each([
    { name: 'desk__book', skills: [{ id: 'book', name: 'Book' }] },
    { name: 'delegate_to_desk', skills: [] },
  ])('continues a call of $name although the card has other skills now', async ({ name, skills }) => {
    const skilled = await startAgent({ skills });
    const options = { cardUrl: skilled.url, delegate: ', skills: true' };
    const waiting = await turnThatWaitsOnNoPod(`${name}: ask`, options);
    skilled.offer([{ id: 'sell', name: 'Sell' }]);
    await answerOn(waiting);
    expect(await outcomeOf(waiting.second, waiting.begun)).toBe('Heard: blue');
    expect(skilled.begun).toHaveLength(1);
    expect(skilled.messages).toHaveLength(2);
  });

  it('stays with its pod while one call has several questions and another call works', async () => {
    const talking = await startAgent({ speaksElicitation: true, streaming: false });
    const backend = openBackend();
    const pod = openPod({ backend, cardUrl: talking.url });
    const begun = await pod.handOver('form + slow', { delivery: 'detach' });
    await questions(pod, begun, 2);
    const { length } = talking.requests;
    await waitUntil(() => talking.requests.length > length + 4, { what: 'several readings of the tasks' });
    expect((await backend.runs.standing(begun.run))?.owner).toMatch(/^pod\//);
    await pod.turns.stop(begun.conversation);
  });

  it('is stopped while no pod has it, and its task is cancelled', async () => {
    const { first, begun } = await detachedTurn();
    const { length } = agent.cancelled;
    await first.turns.stop(begun.conversation);
    await first.turns.resumable(begun.conversation, undefined);
    await waitUntil(() => agent.cancelled.length > length, { what: 'the cancellation' });
  });
});

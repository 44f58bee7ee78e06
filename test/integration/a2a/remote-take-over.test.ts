import { DETACHED } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ScriptedModel } from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { type RemoteAgent, startRemoteAgent } from '../../harness/a2a/remote-agent.ts';
import {
  answer,
  openRemotePod,
  outcomeOf,
  questions,
  startHandingModel,
} from '../../harness/a2a/remote-site.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { sized } from '../../harness/proof-size.ts';
import { listOpen } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { createDyingBackend, DEATHS, type Death } from '../turns/dying-backend.ts';

let model: ScriptedModel;
let agent: RemoteAgent;
beforeAll(async () => {
  // The stock server reports there that a pod which died in a test subscribes to an ended task.
  vi.spyOn(console, 'error').mockReturnValue();
  model = await startHandingModel();
  agent = await startRemoteAgent();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await model.stop();
  await agent.stop();
});

/** A detached turn whose remote task asks its person. Its pod has closed; a second one has not met it yet. */
async function turnThatWaitsOnNoPod() {
  const backend = createMemoryBackend(ROOMY);
  const given = { model, backend, cardUrl: agent.url };
  const first = openRemotePod({ ...given, pod: 'first' });
  const begun = await first.handOver('ask', { delivery: 'detach' });
  const [asked] = await questions(first, begun);
  await waitUntil(async () => (await backend.runs.standing(begun.run))?.owner === DETACHED, {
    what: 'the turn to be detached',
  });
  await first.close();
  const second = openRemotePod({ ...given, pod: 'second' });
  onTestFinished(async () => {
    await second.close();
    await backend.close();
  });
  return { second, begun, asked };
}

/** A turn whose pod dies at a write while it has a remote agent do a task that asks once. */
async function turnThatLoses(death: Death) {
  const backend = createMemoryBackend(ROOMY);
  const { state, ...dying } = createDyingBackend(backend, death.when, (_write, count) => count === death.at);
  const leaseTiming = { renewMs: 20, leaseMs: Number.isFinite(death.at) ? 200 : 20_000 };
  const given = { model, backend, cardUrl: agent.url };
  const first = openRemotePod({ ...given, pod: 'first', turns: { ...dying, leaseTiming } });
  const second = openRemotePod({ ...given, pod: 'second', turns: { leaseTiming } });
  onTestFinished(async () => {
    await second.close();
    await backend.close();
  });
  const begunBefore = agent.begun.length;
  const sentBefore = agent.messages.length;
  const begun = await first.handOver('ask');
  const leave = second.turns.attend(begun.run);
  const answered = new Set<string>();
  await waitUntil(
    async () => {
      const [open] = await listOpen(second.engine, begun.conversation);
      if (open !== undefined) {
        answered.add(open.id);
        await answer(second, begun, open.id, { action: 'accept', content: { answer: 'red' } });
      }
      return (await backend.runs.standing(begun.run))?.status !== 'running';
    },
    { what: `the end of a turn whose pod died at write ${death.at}`, everyMs: 10 },
  );
  leave();
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
    // In the daily run each kind of death meets every second write.
    const step = sized(1, 2);
    for (let at = step === 1 ? 1 : DEATHS.indexOf(when) + 1; at <= writes; at += step) {
      const turn = await turnThatLoses({ at, when });
      if (!turn.died) continue;
      if (turn.tasks === 0) {
        expect(turn.text, `write ${at}`).toContain('Whether it was begun is not known.');
        continue;
      }
      finished += 1;
      expect({ ...turn, writes: 0 }, `write ${at}`).toEqual({
        text: 'Heard: red',
        tasks: 1,
        messages: 2,
        answered: 1,
        writes: 0,
        died: true,
      });
    }
    expect(finished).toBeGreaterThan(3 / step);
  });

  it('leaves its pod while the person thinks, and another pod sends their answer', async () => {
    const { second, begun, asked } = await turnThatWaitsOnNoPod();
    const { length } = agent.begun;
    await answer(second, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'blue' } });
    await second.turns.resumable(begun.conversation, undefined);
    expect(await outcomeOf(second, begun)).toBe('Heard: blue');
    expect(agent.begun).toHaveLength(length);
  });

  it('finds its task again when the agent, its card included, was missing for some time', async () => {
    onTestFinished(() => agent.cut(false));
    const { second, begun, asked } = await turnThatWaitsOnNoPod();
    agent.cut('missing');
    const requests = agent.requests.length;
    const sent = agent.messages.length;
    await answer(second, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'blue' } });
    await second.turns.resumable(begun.conversation, undefined);
    await waitUntil(() => agent.requests.length > requests + 1, { what: 'two attempts to get the card' });
    agent.cut(false);
    expect(await outcomeOf(second, begun)).toBe('Heard: blue');
    expect(agent.messages).toHaveLength(sent + 1);
  });

  it.each([
    { name: 'desk__book', skills: [{ id: 'book', name: 'Book' }] },
    { name: 'delegate_to_desk', skills: [] },
  ])('continues a call of $name although the card has other skills now', async ({ name, skills }) => {
    const skilled = await startRemoteAgent({ skills });
    const backend = createMemoryBackend(ROOMY);
    const given = { model, backend, cardUrl: skilled.url, delegate: ', skills: true' };
    const first = openRemotePod({ ...given, pod: 'first' });
    const begun = await first.handOver(`${name}: ask`, { delivery: 'detach' });
    const [asked] = await questions(first, begun);
    await waitUntil(async () => (await backend.runs.standing(begun.run))?.owner === DETACHED, {
      what: 'the turn to be detached',
    });
    await first.close();
    skilled.offer([{ id: 'sell', name: 'Sell' }]);
    const second = openRemotePod({ ...given, pod: 'second' });
    onTestFinished(async () => {
      await second.close();
      await skilled.stop();
      await backend.close();
    });
    await answer(second, begun, asked?.id ?? '', { action: 'accept', content: { answer: 'blue' } });
    await second.turns.resumable(begun.conversation, undefined);
    expect(await outcomeOf(second, begun)).toBe('Heard: blue');
    expect(skilled.begun).toHaveLength(1);
    expect(skilled.messages).toHaveLength(2);
  });

  it('stays with its pod while one call has several questions and another call works', async () => {
    const talking = await startRemoteAgent({ speaksElicitation: true, streaming: false });
    const backend = createMemoryBackend(ROOMY);
    const pod = openRemotePod({ model, backend, cardUrl: talking.url });
    onTestFinished(async () => {
      await pod.close();
      await talking.stop();
      await backend.close();
    });
    const begun = await pod.handOver('form + slow', { delivery: 'detach' });
    await questions(pod, begun, 2);
    const { length } = talking.requests;
    await waitUntil(() => talking.requests.length > length + 4, { what: 'several readings of the tasks' });
    expect((await backend.runs.standing(begun.run))?.owner).toMatch(/^pod\//);
    await pod.turns.stop(begun.conversation);
  });

  it('is stopped while no pod has it, and its task is cancelled', async () => {
    const backend = createMemoryBackend(ROOMY);
    const pod = openRemotePod({ model, backend, cardUrl: agent.url });
    onTestFinished(async () => {
      await pod.close();
      await backend.close();
    });
    const begun = await pod.handOver('ask', { delivery: 'detach' });
    await questions(pod, begun);
    await waitUntil(async () => (await backend.runs.standing(begun.run))?.owner === DETACHED, {
      what: 'the turn to be detached',
    });
    const { length } = agent.cancelled;
    await pod.turns.stop(begun.conversation);
    await pod.turns.resumable(begun.conversation, undefined);
    await waitUntil(() => agent.cancelled.length > length, { what: 'the cancellation' });
  });
});

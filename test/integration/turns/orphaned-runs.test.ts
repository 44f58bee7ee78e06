import { ParleyError } from '@parley/shared/domain/errors';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Heartbeats } from '@parley/shared/ports/runs/heartbeats';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { NewRun, Runs } from '@parley/shared/ports/runs/runs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import { expectRefusal } from '../../harness/engines/observe.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import {
  listOpen,
  lostRun,
  podOn,
  readEvents,
  saying,
  type TestPod,
  talk,
} from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ userText, results }) =>
        userText === 'ask' && results.length === 0
          ? { calls: [{ name: 'elicit', arguments: { kind: 'confirmation', message: 'Sure?' } }] }
          : { text: `Done${results.map(({ text }) => ` ${text}`).join()}.` },
    ],
  });
});
afterAll(() => model.stop());

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** Pods that share a backend; a beat of theirs comes soon, and takeoverCount soon. */
function world() {
  const backend = createMemoryBackend(ROOMY);
  const pod = (options: TestPod = {}) => {
    const made = podOn(backend, model, { leaseTiming: { renewMs: 50, leaseMs: 1_000 }, ...options });
    closing.push(() => made.turns.close());
    return made;
  };
  return { backend, pod, conversation: talk() };
}

function away(): ParleyError {
  return new ParleyError('unavailable', 'Away.', { retryAfterSeconds: 1 });
}

/** Heartbeats of one pod that can die or lose its connection; counts refused heartbeats and those after them. */
function breakableHeartbeats(heartbeats: Heartbeats) {
  const state = { dead: false, outage: false, refused: 0, heardAgain: 0, disconnected: new Set<string>() };
  const refuse = () => {
    if (!state.outage) return;
    state.refused += 1;
    throw away();
  };
  return {
    state,
    heartbeats: {
      async beat(pod, ttlMs) {
        refuse();
        if (state.refused > 0) state.heardAgain += 1;
        if (!state.dead) await heartbeats.beat(pod, ttlMs);
      },
      async alive(pod) {
        refuse();
        return heartbeats.alive(pod);
      },
      connected: async (pod) => !state.disconnected.has(pod),
    } satisfies Pick<Heartbeats, 'beat' | 'alive' | 'connected'>,
  };
}

/** Runs whose first begin loses its reply, executed or not, with what was sent then. */
function unheard(runs: Runs, isDone: boolean) {
  let sent: NewRun | undefined;
  return {
    sent() {
      if (sent === undefined) throw new Error('Nothing was sent.');
      return sent;
    },
    runs: {
      ...runs,
      async begin(run) {
        if (sent !== undefined) return runs.begin(run);
        sent = run;
        if (isDone) await runs.begin(run);
        throw away();
      },
    } satisfies Runs,
  };
}

describe('an orphaned run', () => {
  it('after a lost reply to its begin is ended, and does not block other pods', async () => {
    const { backend, pod, conversation } = world();
    const { runs, sent } = unheard(backend.runs, true);
    const broken = pod({ runs });
    expect(await expectRefusal(broken.turns.begin(saying(conversation, 'hello')))).toMatchObject({
      code: 'unavailable',
    });
    const stream = sent();
    const stands = async () => (await backend.runs.standing(stream))?.status === 'failed';
    await waitUntil(stands, { what: 'the end of the lost run' });
    await pod().turns.begin(saying(conversation, 'hello'));
    expect((await readEvents(backend, stream)).at(-1)).toMatchObject({ code: 'interrupted' });
  });

  it('after a lost reply to its begin is ended before its sender sends another, even when Redis executed it late', async () => {
    const { backend, pod, conversation } = world();
    const { runs, sent } = unheard(backend.runs, false);
    // No beat comes between the two.
    const { turns } = pod({ runs, leaseTiming: { renewMs: 60_000, leaseMs: 120_000 } });
    expect(await expectRefusal(turns.begin(saying(conversation, 'hello')))).toMatchObject({
      code: 'unavailable',
    });
    const late = sent();
    await backend.runs.begin(late);
    const next = await turns.begin(saying(conversation, 'hello'));
    expect(next.streamRequestId).not.toBe(late.streamRequestId);
    expect(await backend.runs.standing(late)).toMatchObject({ status: 'failed' });
    expect((await readEvents(backend, late)).map(({ type }) => type)).toEqual([
      'turn-started',
      'turn-failed',
    ]);
  });

  it.each([
    ['offered', true],
    ['ended', false],
  ])('that could not be %s at once is so with a later heartbeat', async (_how, hasKey) => {
    const { backend, pod, conversation } = world();
    const faults = { offer: 2, end: 2 };
    const { runs: losing, sent } = unheard(backend.runs, true);
    const runs: Runs = {
      ...losing,
      async write(run, write) {
        if (write.end?.status === 'failed' && faults.end-- > 0) throw away();
        return backend.runs.write(run, write);
      },
    };
    const runQueue: RunQueue = {
      ...backend.runQueue,
      async offer(stream, term) {
        if (faults.offer-- > 0) throw away();
        await backend.runQueue.offer(stream, term);
      },
    };
    const { turns } = pod({ runs, runQueue });
    const request = saying(conversation, 'hello');
    const keyed = { ...request, repeatable: { key: 'key', digest: 'hello' } };
    await expectRefusal(turns.begin(hasKey ? keyed : request));
    const wanted = hasKey ? 'finished' : 'failed';
    await waitUntil(async () => (await backend.runs.standing(sent()))?.status === wanted, { what: wanted });
    expect(hasKey ? faults.offer : faults.end).toBeLessThan(0);
  });

  it('whose last write failed is ended', async () => {
    const { backend, pod, conversation } = world();
    let failures = 0;
    const runs: Runs = {
      ...backend.runs,
      async write(run, write) {
        if (write.end === undefined || failures === 2) return backend.runs.write(run, write);
        failures += 1;
        throw new Error('A write that no repetition helps.');
      },
    };
    const { turns } = pod({ runs });
    const run = await turns.begin(saying(conversation, 'hello'));
    await waitUntil(async () => (await backend.runs.standing(run))?.status === 'failed', {
      what: 'the end of the lost run',
    });
    await pod().turns.begin(saying(conversation, 'hello'));
  });

  it('whose pod died is resumed for its readers, and its question stays', async () => {
    const { backend, pod, conversation } = world();
    const { state, heartbeats } = breakableHeartbeats(backend.heartbeats);
    const [dying, living] = [pod({ heartbeats }), pod({ pod: 'living' })];
    const run = await dying.turns.begin(saying(conversation, 'ask'));
    const asked = () => listOpen(living.engine, conversation);
    await waitUntil(async () => (await asked()).length === 1, { what: 'the question' });
    const leave = living.turns.attend(run);
    state.dead = true;
    await waitUntil(async () => (await backend.runs.standing(run))?.owner.startsWith('living/'), {
      what: 'the living pod',
    });
    const [question, ...others] = await asked();
    expect(others).toEqual([]);
    await answerQuestion(living.engine, conversation, question?.id ?? '', 'accept', { answer: true });
    await waitUntil(async () => (await readEvents(backend, run)).at(-1)?.type === 'turn-finished', {
      what: 'the end',
    });
    expect(await asked()).toEqual([]);
    leave();
  });

  it('whose pod lost its connection is resumed before its lease lapses, unless the pod is back at once', async () => {
    const { backend, pod, conversation } = world();
    const { state, heartbeats } = breakableHeartbeats(backend.heartbeats);
    const leaseTiming = { renewMs: 50, leaseMs: 600_000 };
    const dying = pod({ leaseTiming, pod: 'dying' });
    const run = await dying.turns.begin(saying(conversation, 'ask'));
    const { owner } = (await backend.runs.standing(run)) ?? { owner: '' };
    let checks = 0;
    const backAtOnce = async () => {
      checks += 1;
      return checks % 2 === 0;
    };
    const patient = pod({
      leaseTiming,
      pod: 'patient',
      heartbeats: { ...heartbeats, connected: backAtOnce },
    });
    patient.turns.attend(run);
    await waitUntil(() => checks >= 4, { what: 'four checks' });
    expect(await backend.runs.standing(run)).toMatchObject({ owner, term: 1 });
    pod({ leaseTiming, pod: 'living', heartbeats }).turns.attend(run);
    state.disconnected.add(owner);
    await waitUntil(async () => (await backend.runs.standing(run))?.owner.startsWith('living/'), {
      what: 'the living pod',
    });
  });

  it('can be stopped, and can be read again', async () => {
    for (const how of ['stop', 'resume'] as const) {
      const { backend, pod, conversation } = world();
      const { state, heartbeats } = breakableHeartbeats(backend.heartbeats);
      const [dying, living] = [pod({ heartbeats }), pod()];
      const run = await dying.turns.begin(saying(conversation, 'ask'));
      await waitUntil(async () => (await listOpen(living.engine, conversation)).length === 1, {
        what: 'the question',
      });
      const { owner } = (await backend.runs.standing(run)) ?? { owner: '' };
      state.dead = true;
      await waitUntil(async () => !(await backend.heartbeats.alive(owner)), { what: 'the silence' });
      expect((await living.turns.resumable(conversation, undefined))?.streamRequestId).toBe(
        run.streamRequestId,
      );
      if (how === 'resume') continue;
      expect(await living.turns.stop(conversation)).toBe(true);
      await waitUntil(async () => (await backend.runs.standing(run))?.status === 'stopped', {
        what: 'the stop',
      });
      expect(await listOpen(living.engine, conversation)).toEqual([]);
      expect(await living.turns.resumable(conversation, undefined)).toBeUndefined();
    }
  });

  it('that crashes one pod after another is ended', async () => {
    const { backend, pod, conversation } = world();
    const left = lostRun(conversation);
    await backend.runs.begin(left);
    for (let term = 1; term <= 200; term += 1) await backend.runs.takeOver(left, term, `died-${term}`);
    await pod().turns.resumable(conversation, undefined);
    await waitUntil(async () => (await backend.runs.standing(left))?.status === 'failed', {
      what: 'the end',
    });
  });

  it('does not exist after an outage that silenced all pods', async () => {
    const { backend, pod, conversation } = world();
    const [far, near] = [breakableHeartbeats(backend.heartbeats), breakableHeartbeats(backend.heartbeats)];
    const one = pod({ heartbeats: far.heartbeats });
    // It gives the others 4 s to speak up.
    const other = pod({ heartbeats: near.heartbeats, leaseTiming: { renewMs: 2_000, leaseMs: 1_000 } });
    const run = await one.turns.begin(saying(conversation, 'ask'));
    const questions = () => listOpen(one.engine, conversation);
    await waitUntil(async () => (await questions()).length === 1, { what: 'the question' });
    const { owner } = (await backend.runs.standing(run)) ?? { owner: '' };
    far.state.outage = true;
    near.state.outage = true;
    await waitUntil(() => near.state.refused > 0, { what: 'an outage that is seen' });
    await waitUntil(async () => !(await backend.heartbeats.alive(owner)), { what: 'the silence' });
    near.state.outage = false;
    await waitUntil(() => near.state.heardAgain > 0, { what: 'a beat of the other pod' });
    expect(await other.turns.resumable(conversation, undefined)).toMatchObject({
      streamRequestId: run.streamRequestId,
    });
    expect(await backend.runs.standing(run)).toMatchObject({ status: 'running', term: 1 });
    far.state.outage = false;
    await waitUntil(() => backend.heartbeats.alive(owner), { what: 'a beat' });
    await answerQuestion(one.engine, conversation, (await questions())[0]?.id ?? '', 'accept', {
      answer: true,
    });
    await waitUntil(async () => (await backend.runs.standing(run))?.status === 'finished', {
      what: 'the end',
    });
  });
});

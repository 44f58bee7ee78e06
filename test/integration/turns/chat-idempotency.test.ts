import { ParleyError } from '@parley/shared/domain/errors';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../infra/demo/stand-ins/scripted-model/scripted-model.ts';
import type { TurnRequest } from '../../../services/api/src/agents/loop/turn-work.ts';
import { expectRefusal } from '../../harness/engines/observe.ts';
import { answerQuestion } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { listOpen, podOn, readEvents, saying, type TestPod, talk } from '../../harness/turns/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: [
      ({ userText, results }) =>
        userText.startsWith('ask') && results.length === 0
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

// A slow moment must not pass for a death where no pod dies.
const LASTING = { renewMs: 50, leaseMs: 20_000 };
const MORTAL = { renewMs: 50, leaseMs: 1_000 };

let worlds = 0;
/** Pods that share a backend and look around often, and a request that each may be sent again. */
function world(what = 'hello') {
  worlds += 1;
  const text = `${what} ${worlds};`;
  const backend = createMemoryBackend(ROOMY);
  const pod = (options: TestPod = {}) => {
    const made = podOn(backend, model, { leaseTiming: LASTING, ...options });
    closing.push(() => made.turns.close());
    return made;
  };
  const request: TurnRequest = { ...saying(talk(), text), repeatable: { key: 'key-1', digest: 'hello' } };
  /** The same, from a client that has no name for the conversation: each call mints one. */
  const again = (): TurnRequest => ({
    ...request,
    conversation: { ...request.conversation, conversationId: `minted-${Math.random()}` },
  });
  const untilFinished = (run: RunRef) =>
    waitUntil(async () => (await readEvents(backend, run)).at(-1)?.type === 'turn-finished', {
      what: 'the end',
    });
  /** What the model was asked in this world. */
  const rounds = () =>
    model.requests.map(({ body }) => JSON.stringify(body.messages)).filter((each) => each.includes(text));
  return { backend, pod, request, again, untilFinished, rounds };
}

function away(): ParleyError {
  return new ParleyError('unavailable', 'Away.', { retryAfterSeconds: 1 });
}

/** Runs whose first begin loses its reply, executed if `begun`; their standing cannot be read before `back`. */
function losing(runs: Runs, begun: boolean) {
  let lost = false;
  let isBack = false;
  let looks = 0;
  return {
    looks: () => looks,
    back: () => {
      isBack = true;
    },
    runs: {
      ...runs,
      async begin(run) {
        if (lost) return runs.begin(run);
        lost = true;
        if (begun) await runs.begin(run);
        throw away();
      },
      async standing(stream) {
        if (!isBack) throw away();
        looks += 1;
        return runs.standing(stream);
      },
    } satisfies Runs,
  };
}

/** Runs whose first begin is refused, and executed only on request. */
function postponing(runs: Runs) {
  let postponed: RunRef | undefined;
  let doIt = async (): Promise<unknown> => undefined;
  let looks = 0;
  return {
    looks: () => looks,
    async doIt(): Promise<RunRef> {
      await doIt();
      if (postponed === undefined) throw new Error('Nothing was begun.');
      const { tenant, userId, streamRequestId, conversationId } = postponed;
      return { tenant, userId, streamRequestId, conversationId };
    },
    runs: {
      ...runs,
      async begin(run) {
        if (postponed !== undefined) return runs.begin(run);
        postponed = run;
        doIt = () => runs.begin(run);
        throw away();
      },
      async standing(stream) {
        const standing = await runs.standing(stream);
        looks += 1;
        return standing;
      },
    } satisfies Runs,
  };
}

describe('a request that is sent again', () => {
  it('leads to the turn that the first one began, on any pod, even when it has ended', async () => {
    const { pod, request, again, untilFinished, rounds } = world();
    const [one, other] = [pod(), pod()];
    const first = await one.turns.begin(request);
    expect(first.isRepeat).toBe(false);
    const repeated = { ...first, isRepeat: true };
    expect(await other.turns.begin(again())).toEqual(repeated);
    await untilFinished(first);
    expect(await one.turns.begin(again())).toEqual(repeated);
    expect(await other.turns.begin(request)).toEqual(repeated);
    expect(rounds()).toHaveLength(1);
  });

  it('ten times at once, to two pods, begins one turn, which continues', async () => {
    const { backend, pod, again, untilFinished } = world('ask');
    const [one, other] = [pod(), pod()];
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index < 7 ? one : other).turns.begin(again())),
    );
    expect(all.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1);
    const [run] = all;
    if (run === undefined) throw new Error('No turn.');
    expect(new Set(all.map((each) => `${each.streamRequestId} ${each.conversationId}`)).size).toBe(1);
    await waitUntil(async () => (await listOpen(one.engine, run)).length === 1, { what: 'the question' });
    // A repeated request during the turn must not let its pod treat the turn as orphaned.
    await Promise.all([one.turns.begin(again()), other.turns.begin(again())]);
    expect(await one.turns.resumable(run, undefined)).toMatchObject({ streamRequestId: run.streamRequestId });
    const [question] = await listOpen(one.engine, run);
    await answerQuestion(one.engine, run, question?.id ?? '', 'accept', { answer: true });
    await untilFinished(run);
    expect((await backend.runs.standing(run))?.term).toBe(1);
    expect(await listOpen(one.engine, run)).toEqual([]);
  });

  it('with another body is refused, and the turn continues', async () => {
    const { pod, request, untilFinished } = world();
    const { turns } = pod();
    const first = await turns.begin(request);
    const other = { ...request, repeatable: { key: 'key-1', digest: 'other' } };
    expect(await expectRefusal(turns.begin(other))).toMatchObject({ code: 'idempotency_mismatch' });
    await untilFinished(first);
    expect(await expectRefusal(turns.begin(other))).toMatchObject({ code: 'idempotency_mismatch' });
  });

  it('is another turn under another key, or of another person', async () => {
    const { pod, request, untilFinished } = world();
    const { turns } = pod();
    await untilFinished(await turns.begin(request));
    const next = { ...request, repeatable: { key: 'key-2', digest: 'hello' } };
    const other = { ...request, conversation: talk() };
    expect((await turns.begin(next)).isRepeat).toBe(false);
    expect((await turns.begin(other)).isRepeat).toBe(false);
  });

  it('after a lost reply finds the active turn, with all the input of its client', async () => {
    const { backend, pod, request, untilFinished, rounds } = world();
    const { runs, back } = losing(backend.runs, true);
    const [far, near] = [pod({ runs }), pod()];
    const withHistory = { ...request, before: [{ role: 'user', content: 'earlier' } as const] };
    expect(await expectRefusal(far.turns.begin(withHistory))).toMatchObject({ code: 'unavailable' });
    const run = await near.turns.begin(withHistory);
    expect(run.isRepeat).toBe(true);
    expect((await far.turns.begin(withHistory)).isRepeat).toBe(true);
    back();
    await untilFinished(run);
    expect(rounds()).toEqual([expect.stringContaining('earlier')]);
    expect((await backend.runs.read(run)).run).toMatchObject({ status: 'finished' });
  });

  it('after a lost call begins the turn, which the pod of the first request does not touch', async () => {
    for (const repeater of ['the same pod', 'another pod']) {
      const { backend, pod, request, untilFinished, rounds } = world('ask');
      const { runs, back, looks } = losing(backend.runs, false);
      const [far, near] = [pod({ runs }), pod()];
      expect(await expectRefusal(far.turns.begin(request))).toMatchObject({ code: 'unavailable' });
      const run = await (repeater === 'another pod' ? near : far).turns.begin(request);
      expect(run.isRepeat).toBe(false);
      await waitUntil(async () => (await listOpen(near.engine, run)).length === 1, { what: 'the question' });
      back();
      const statusPolled = () =>
        waitUntil(() => looks() > 0, { what: 'a poll of the turn that it may have begun' });
      // A pod checks its own active runs afterwards.
      if (repeater === 'another pod') await statusPolled();
      const [question] = await listOpen(near.engine, run);
      await answerQuestion(near.engine, run, question?.id ?? '', 'accept', { answer: true });
      await untilFinished(run);
      await statusPolled();
      expect((await backend.runs.read(run)).run).toMatchObject({ status: 'finished', term: 1 });
      expect(rounds()).toHaveLength(2);
    }
  });

  it('whose first pod shuts down during the outage continues on another pod', async () => {
    const { backend, pod, request, untilFinished } = world();
    const { runs } = losing(backend.runs, true);
    const [far, near] = [
      pod({ runs, pod: 'far', leaseTiming: MORTAL }),
      pod({ pod: 'near', leaseTiming: MORTAL }),
    ];
    await expectRefusal(far.turns.begin(request));
    await far.turns.close();
    const run = await near.turns.begin(request);
    expect(run.isRepeat).toBe(true);
    const leave = near.turns.attend(run);
    await untilFinished(run);
    leave();
    expect((await backend.runs.standing(run))?.owner).toMatch(/^near\//);
  });

  it('after a late execution in Redis finds the active turn; a turn without a key is ended', async () => {
    for (const hasKey of [true, false]) {
      const { backend, pod, request, untilFinished } = world();
      const { runs, looks, doIt } = postponing(backend.runs);
      const [far, near] = [pod({ runs }), pod()];
      const { repeatable: _key, ...bare } = request;
      expect(await expectRefusal(far.turns.begin(hasKey ? request : bare))).toMatchObject({
        code: 'unavailable',
      });
      await waitUntil(() => looks() > 0, { what: 'a poll of the turn that it may have begun' });
      const begun = await doIt();
      if (hasKey) {
        expect(await near.turns.begin(request)).toMatchObject({ ...begun, isRepeat: true });
        await untilFinished(begun);
      } else {
        const isEnded = async () => (await backend.runs.standing(begun))?.status === 'failed';
        await waitUntil(isEnded, { what: 'the end of the turn whose begin lost its reply' });
      }
    }
  });
});

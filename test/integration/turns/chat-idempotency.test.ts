import { ParleyError } from '@parley/core/domain/errors';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../services/api/src/agents/loop/turn-work.ts';
import { expectRefusal } from '../../harness/engines/observe.ts';
import { modelOf, SURE, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const model = modelOf(({ userText, results }) =>
  userText.startsWith('ask') && results.length === 0
    ? { calls: [SURE] }
    : { text: `Done${results.map(({ text }) => ` ${text}`).join()}.` },
);

let worlds = 0;
/** Pods that share a backend, and a request that each may be sent again. */
function repeating(what = 'hello') {
  worlds += 1;
  const text = `${what} ${worlds};`;
  const world = worldOn(model);
  const request: TurnRequest = { ...world.saying(text), repeatable: { key: 'key-1', digest: 'hello' } };
  const untilFinished = async (run: RunRef) => expect(await world.ended(run)).toBe('finished');
  /** What the model was asked in this world. */
  const rounds = () =>
    model.current.requests
      .map(({ body }) => JSON.stringify(body.messages))
      .filter((each) => each.includes(text));
  return { ...world, request, untilFinished, rounds };
}

const away = () => new ParleyError('unavailable', 'Away.', { retryAfterSeconds: 1 });
const UNAVAILABLE = { code: 'unavailable' };

/**
 * Runs whose first begin loses its reply: executed, or not, or only later by `execute`. While they are unavailable, the standing
 * of a run cannot be read; then `untilLooked` waits until it was.
 */
function losing(runs: Runs, how: 'begun' | 'lost' | 'late') {
  let first: RunRef | undefined;
  let execute: () => Promise<unknown> = async () => undefined;
  let isAway = how !== 'late';
  let looks = 0;
  return {
    back: () => {
      isAway = false;
    },
    untilLooked: () => waitUntil(() => looks > 0, { what: 'a poll of the turn that it may have begun' }),
    async execute(): Promise<RunRef> {
      await execute();
      if (first === undefined) throw new Error('Nothing was begun.');
      const { tenant, userId, streamRequestId, conversationId } = first;
      return { tenant, userId, streamRequestId, conversationId };
    },
    runs: {
      ...runs,
      async begin(run) {
        if (first !== undefined) return runs.begin(run);
        first = run;
        execute = () => runs.begin(run);
        if (how === 'begun') await execute();
        throw away();
      },
      async standing(stream) {
        if (isAway) throw away();
        const standing = await runs.standing(stream);
        looks += 1;
        return standing;
      },
    } satisfies Runs,
  };
}

describe('a request that is sent again', () => {
  it('after a lost reply finds the active turn, with all the input of its client', async () => {
    const { backend, pod, request, untilFinished, rounds } = repeating();
    const { runs, back } = losing(backend.runs, 'begun');
    const [far, near] = [pod({ runs }), pod()];
    const withHistory = { ...request, before: [{ role: 'user', content: 'earlier' } as const] };
    expect(await expectRefusal(far.turns.begin(withHistory))).toMatchObject(UNAVAILABLE);
    const run = await near.turns.begin(withHistory);
    expect(run.isRepeat).toBe(true);
    expect((await far.turns.begin(withHistory)).isRepeat).toBe(true);
    back();
    await untilFinished(run);
    expect(rounds()).toEqual([expect.stringContaining('earlier')]);
  });

  it.each(['the same pod', 'another pod'])(
    'after a lost call begins the turn on %s, which the pod of the first request does not touch',
    async (repeater) => {
      const { backend, pod, request, untilFinished, rounds, asked, answer, standing } = repeating('ask');
      const { runs, back, untilLooked } = losing(backend.runs, 'lost');
      const [far, near] = [pod({ runs }), pod()];
      expect(await expectRefusal(far.turns.begin(request))).toMatchObject(UNAVAILABLE);
      const run = await (repeater === 'another pod' ? near : far).turns.begin(request);
      expect(run.isRepeat).toBe(false);
      const [question] = await asked(1, run);
      back();
      // A pod checks its own active runs afterwards.
      if (repeater === 'another pod') await untilLooked();
      await answer(question?.id, 'accept', true);
      await untilFinished(run);
      await untilLooked();
      expect(await standing(run)).toMatchObject({ status: 'finished', term: 1 });
      expect(rounds()).toHaveLength(2);
    },
  );

  it.each([true, false])(
    'after a late execution in Redis finds the active turn (with a key: %s); a turn without a key is ended',
    async (hasKey) => {
      const { backend, pod, request, untilFinished, ended } = repeating();
      const { runs, untilLooked, execute } = losing(backend.runs, 'late');
      const [far, near] = [pod({ runs }), pod()];
      const { repeatable: _key, ...bare } = request;
      expect(await expectRefusal(far.turns.begin(hasKey ? request : bare))).toMatchObject(UNAVAILABLE);
      await untilLooked();
      const begun = await execute();
      if (hasKey) {
        expect(await near.turns.begin(request)).toMatchObject({ ...begun, isRepeat: true });
        await untilFinished(begun);
      } else expect(await ended(begun)).toBe('failed');
    },
  );
});

import { ParleyError } from '@parley/shared/domain/errors';
import type { RunRef } from '@parley/shared/domain/runs/run';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { TurnRequest } from '../../../services/api/src/agents/loop/turn-work.ts';
import { expectRefusal } from '../../harness/engines/observe.ts';
import { talk } from '../../harness/turns/setup.ts';
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
  /** The same, from a client that has no name for the conversation: each call mints one. */
  const again = (): TurnRequest => ({
    ...request,
    conversation: { ...request.conversation, conversationId: `minted-${Math.random()}` },
  });
  const untilFinished = async (run: RunRef) => expect(await world.ended(run)).toBe('finished');
  /** What the model was asked in this world. */
  const rounds = () =>
    model.current.requests
      .map(({ body }) => JSON.stringify(body.messages))
      .filter((each) => each.includes(text));
  return { ...world, request, again, untilFinished, rounds };
}

const away = () => new ParleyError('unavailable', 'Away.', { retryAfterSeconds: 1 });
const UNAVAILABLE = { code: 'unavailable' };
const MISMATCH = { code: 'idempotency_mismatch' };

/**
 * Runs whose first begin loses its reply: executed, or not, or only later by `execute`. While they are away, the standing
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
  it('leads to the turn that the first one began, on any pod, even when it has ended', async () => {
    const { pod, request, again, untilFinished, rounds } = repeating();
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
    const { pod, again, untilFinished, asked, answer, open, standing } = repeating('ask');
    const [one, other] = [pod(), pod()];
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index < 7 ? one : other).turns.begin(again())),
    );
    expect(all.filter(({ isRepeat }) => !isRepeat)).toHaveLength(1);
    const [run] = all;
    if (run === undefined) throw new Error('No turn.');
    expect(new Set(all.map((each) => `${each.streamRequestId} ${each.conversationId}`)).size).toBe(1);
    const [question] = await asked(1, run);
    // A repeated request during the turn must not let its pod treat the turn as orphaned.
    await Promise.all([one.turns.begin(again()), other.turns.begin(again())]);
    expect(await one.turns.resumable(run, undefined)).toMatchObject({ streamRequestId: run.streamRequestId });
    await answer(question?.id, 'accept', true);
    await untilFinished(run);
    expect((await standing(run))?.term).toBe(1);
    expect(await open(run)).toEqual([]);
  });

  it('with another body is refused, and the turn continues', async () => {
    const { pod, request, untilFinished } = repeating();
    const { turns } = pod();
    const first = await turns.begin(request);
    const other = { ...request, repeatable: { key: 'key-1', digest: 'other' } };
    expect(await expectRefusal(turns.begin(other))).toMatchObject(MISMATCH);
    await untilFinished(first);
    expect(await expectRefusal(turns.begin(other))).toMatchObject(MISMATCH);
  });

  it('is another turn under another key, or of another person', async () => {
    const { pod, request, untilFinished } = repeating();
    const { turns } = pod();
    await untilFinished(await turns.begin(request));
    const next = { ...request, repeatable: { key: 'key-2', digest: 'hello' } };
    expect((await turns.begin(next)).isRepeat).toBe(false);
    expect((await turns.begin({ ...request, conversation: talk() })).isRepeat).toBe(false);
  });

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

  it('whose first pod shuts down during the outage continues on another pod', async () => {
    const { backend, pod, request, untilFinished, standing, dead } = repeating();
    const { runs } = losing(backend.runs, 'begun');
    const [far, near] = [pod({ runs, pod: 'far' }), pod({ pod: 'near' })];
    await expectRefusal(far.turns.begin(request));
    await far.turns.close();
    const run = await near.turns.begin(request);
    expect(run.isRepeat).toBe(true);
    // A pod that could not hand its turn over is found dead.
    dead.add((await standing(run))?.owner ?? '');
    const leave = near.turns.attend(run);
    await untilFinished(run);
    leave();
    expect((await standing(run))?.owner).toMatch(/^near\//);
  });

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

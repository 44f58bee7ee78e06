import { ParleyError } from '@parley/core/domain/errors';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import type { Heartbeats } from '@parley/shared/ports/runs/heartbeats';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { NewRun, Runs } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import { expectRefusal } from '../../harness/engines/observe.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { lostRun } from '../../harness/turns/setup.ts';
import { modelOf, SURE, type World, worldOn } from '../../harness/turns/site.ts';
import { waitUntil } from '../../harness/wait-until.ts';

const model = modelOf(({ userText, results }) =>
  userText === 'ask' && results.length === 0
    ? { calls: [SURE] }
    : { text: `Done${results.map(({ text }) => ` ${text}`).join()}.` },
);

/** No beat comes by itself within a test. */
const RARE = { renewMs: 600_000, leaseMs: 1_200_000 };
const UNAVAILABLE = { code: 'unavailable' };

function away(): ParleyError {
  return new ParleyError('unavailable', 'Away.', { retryAfterSeconds: 1 });
}

/** Runs whose first begin loses its reply, executed or not, with what was sent then. */
function unheard({ backend: { runs } }: World, isDone: boolean) {
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

/** A turn that asks, on a pod that is then taken for dead. */
async function orphaned(world: World) {
  const dying = world.pod();
  const living = world.pod({ pod: 'living' });
  const run = await dying.turns.begin(world.saying('ask'));
  await world.asked();
  world.dead.add((await world.standing(run))?.owner ?? '');
  return { living, run };
}

describe('an orphaned run', () => {
  it('after a lost reply to its begin is ended, and does not block other pods', async () => {
    const world = worldOn(model);
    const { runs, sent } = unheard(world, true);
    const broken = world.pod({ runs });
    expect(await expectRefusal(broken.turns.begin(world.saying('hello')))).toMatchObject(UNAVAILABLE);
    expect(await world.ended(sent())).toBe('failed');
    await world.pod().turns.begin(world.saying('hello'));
    expect((await world.events(sent())).at(-1)).toMatchObject({ code: 'interrupted' });
  });

  it('after a lost reply to its begin is ended before its sender sends another, even when Redis executed it late', async () => {
    const world = worldOn(model);
    const { runs, sent } = unheard(world, false);
    const { turns } = world.pod({ runs, leaseTiming: RARE });
    expect(await expectRefusal(turns.begin(world.saying('hello')))).toMatchObject(UNAVAILABLE);
    const late = sent();
    await world.backend.runs.begin(late);
    const next = await turns.begin(world.saying('hello'));
    expect(next.streamRequestId).not.toBe(late.streamRequestId);
    expect(await world.standing(late)).toMatchObject({ status: 'failed' });
    expect((await world.events(late)).map(({ type }) => type)).toEqual(['turn-started', 'turn-failed']);
  });

  it.each([
    ['offered', 'finished'],
    ['ended', 'failed'],
  ])('that could not be %s at once is so with a later heartbeat', async (how, wanted) => {
    const world = worldOn(model);
    const { backend } = world;
    const faults = { offered: 2, ended: 2 };
    const { runs: losing, sent } = unheard(world, true);
    const runs: Runs = {
      ...losing,
      async write(run, write) {
        if (write.end?.status === 'failed' && faults.ended-- > 0) throw away();
        return backend.runs.write(run, write);
      },
    };
    const runQueue: RunQueue = {
      ...backend.runQueue,
      async offer(stream, term) {
        if (faults.offered-- > 0) throw away();
        await backend.runQueue.offer(stream, term);
      },
    };
    const { turns } = world.pod({ runs, runQueue });
    const keyed = how === 'offered' && { repeatable: { key: 'key', digest: 'hello' } };
    await expectRefusal(turns.begin({ ...world.saying('hello'), ...keyed }));
    expect(await world.ended(sent())).toBe(wanted);
    expect(faults[how as keyof typeof faults]).toBeLessThan(0);
  });

  it('whose last write failed is ended', async () => {
    const world = worldOn(model);
    let failures = 0;
    const write: Runs['write'] = async (run, given) => {
      if (given.end === undefined || failures === 2) return world.backend.runs.write(run, given);
      failures += 1;
      throw new Error('A write that no repetition helps.');
    };
    const { turns } = world.pod({ runs: { ...world.backend.runs, write } });
    expect(await world.ended(await turns.begin(world.saying('hello')))).toBe('failed');
    await world.pod().turns.begin(world.saying('hello'));
  });

  it('whose pod lost its connection is resumed before its lease lapses, unless the pod is back at once', async () => {
    const world = worldOn(model);
    const run = await world.pod().turns.begin(world.saying('ask'));
    const { owner = '' } = (await world.standing(run)) ?? {};
    const attending = (pod: string, connected: Heartbeats['connected']) =>
      world.pod({ pod, heartbeats: { ...world.backend.heartbeats, connected } }).turns.attend(run);
    let checks = 0;
    attending('patient', async () => {
      checks += 1;
      return checks % 2 === 0;
    });
    await waitUntil(() => checks >= 4, { what: 'four checks' });
    expect(await world.standing(run)).toMatchObject({ owner, term: 1 });
    attending('living', async (pod) => pod !== owner);
    await world.untilOwnedBy(run, 'living');
  });

  it('can be read again, and can be stopped', async () => {
    const world = worldOn(model);
    const { living, run } = await orphaned(world);
    const { streamRequestId } = run;
    expect(await living.turns.resumable(world.conversation, undefined)).toMatchObject({ streamRequestId });
    expect(await living.turns.stop(world.conversation)).toBe(true);
    expect(await world.ended(run)).toBe('stopped');
    expect(await world.open()).toEqual([]);
    expect(await living.turns.resumable(world.conversation, undefined)).toBeUndefined();
  });

  it.each([
    { deaths: 2, when: 'soon', ends: { type: 'turn-finished' } },
    { deaths: 3, when: 'soon', ends: { type: 'turn-failed', code: 'owners_died' } },
    { deaths: 11, when: 'late', ends: { type: 'turn-finished' } },
    { deaths: 12, when: 'late', ends: { type: 'turn-failed', code: 'owners_died' } },
  ])('whose $deaths owners died $when ends with $ends, where three may die soon', async (row) => {
    const settings = { ...ROOMY, ...(row.when === 'late' && { diedSoonMs: 0 }) };
    const world = worldOn(model, { deathsMax: 3 }, createMemoryBackend(settings));
    const left = lostRun(world.conversation);
    await world.backend.runs.begin(left);
    for (let term = 1; term < row.deaths; term += 1)
      await world.backend.runs.takeOver(left, term, `died-${term}`);
    await world.pod().turns.resumable(world.conversation, undefined);
    await world.ended(left);
    expect((await world.events(left)).at(-1)).toMatchObject(row.ends);
  });

  it('does not exist after an outage that silenced all pods', async () => {
    const world = worldOn(model);
    let isOut = false;
    const beat: Heartbeats['beat'] = async (pod, ttlMs) => {
      if (isOut) throw away();
      await world.backend.heartbeats.beat(pod, ttlMs);
    };
    const alive: Heartbeats['alive'] = async (pod) => !world.dead.has(pod);
    const heartbeats = { ...world.backend.heartbeats, beat, alive };
    const one = world.pod();
    // After an outage it gives the others twice the time between two beats to speak up.
    const other = world.pod({ heartbeats, leaseTiming: RARE });
    const run = await one.turns.begin(world.saying('ask'));
    const [asked] = await world.asked();
    const { owner = '' } = (await world.standing(run)) ?? {};
    isOut = true;
    expect(await expectRefusal(other.turns.begin(world.saying('hello')))).toMatchObject(UNAVAILABLE);
    world.dead.add(owner);
    isOut = false;
    expect(await expectRefusal(other.turns.begin(world.saying('hello')))).toMatchObject({
      code: 'turn_running',
    });
    const { streamRequestId } = run;
    expect(await other.turns.resumable(world.conversation, undefined)).toMatchObject({ streamRequestId });
    expect(await world.standing(run)).toMatchObject({ status: 'running', term: 1 });
    world.dead.delete(owner);
    await world.answer(asked?.id, 'accept', true);
    expect(await world.ended(run)).toBe('finished');
  });
});

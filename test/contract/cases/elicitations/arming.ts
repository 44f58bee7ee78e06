import { bucketOf, type Owner } from '@parley/core/domain/ids';
import { silentObserver } from '@parley/shared/observe/observer';
import type { ArmedDeadline } from '@parley/shared/ports/elicitations/deadlines';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { type EngineOptions, engineOn } from '../../../harness/engines/engines.ts';
import { untilDue } from '../../../harness/engines/observe.ts';
import { answerQuestion, askQuestion, newOwner, serviceOf } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const BATCH = 100;
/** Longer than the timeouts of this file, and shorter than those of others. */
const QUIET_MS = 300_000;

/** The deadline of each bucket for which there is a job. */
export function armingContract(contract: Contract): void {
  /** An engine on the first pod, and the jobs that it has added. */
  function armingEngine(more: EngineOptions = {}) {
    const added: ArmedDeadline[] = [];
    const deadlineJobs = { add: async (armed: ArmedDeadline) => void added.push(armed) };
    return { added, engine: engineOn(contract.pods.backend, { deadlineJobs, ...more }) };
  }

  /** An owner in a bucket where nothing is armed that another test may have left. */
  async function quietOwner(): Promise<Owner> {
    return waitUntil(
      async () => {
        const owner = newOwner();
        const armed = await contract.first.expireDue({ bucket: bucketOf(owner), batch: BATCH });
        return (armed?.delayMs ?? Number.POSITIVE_INFINITY) > QUIET_MS && owner;
      },
      { what: 'a bucket without early deadlines', everyMs: 1 },
    );
  }

  describe('the armed deadline of a bucket', () => {
    it('is the earliest: an ask adds a job where none or a later one is armed, and the end of a question adds none', async () => {
      const owner = await quietOwner();
      const { engine, added } = armingEngine();
      const { row: first } = await askQuestion(engine, owner, { timeoutSeconds: 60 });
      const { row: later } = await askQuestion(engine, owner, { timeoutSeconds: 70 });
      const { row: earlier } = await askQuestion(engine, owner, { timeoutSeconds: 50 });
      for (const { id } of [first, later, earlier]) await answerQuestion(engine, owner, id, 'decline');
      const bucket = bucketOf(owner);
      expect(added).toEqual([
        { bucket, deadline: first.expiresAt, elicitationId: first.id, delayMs: 60_000 },
        { bucket, deadline: earlier.expiresAt, elicitationId: earlier.id, delayMs: 50_000 },
      ]);
      // It stays armed until it has passed, so that questions which are soon answered cost no further jobs.
      await askQuestion(engine, owner, { timeoutSeconds: 60 });
      expect(await engine.expireDue({ bucket, batch: BATCH })).toMatchObject({ deadline: earlier.expiresAt });
    });

    it('is followed by the next one, by the clock of the store, once the bucket was expired', async () => {
      const owner = await quietOwner();
      const bucket = bucketOf(owner);
      const { engine, added } = armingEngine();
      const { row: soon } = await askQuestion(engine, owner, { timeoutSeconds: 0.25 });
      const { row: last } = await askQuestion(engine, owner, { timeoutSeconds: 70 });
      const { row: next } = await askQuestion(engine, owner, { timeoutSeconds: 60 });
      // A job that comes early changes nothing.
      const early = await engine.expireDue({ bucket, batch: BATCH });
      if ((await engine.read(serviceOf(owner), soon.id)).row.status === 'pending')
        expect(early).toMatchObject({ deadline: soon.expiresAt, elicitationId: soon.id });
      await untilDue(contract.first, soon);
      const armed = await engine.expireDue({ bucket, batch: BATCH });
      expect(armed).toMatchObject({ bucket, deadline: next.expiresAt, elicitationId: next.id });
      expect(armed?.delayMs).toBeGreaterThan(0);
      expect(armed?.delayMs).toBeLessThan(60_000);
      expect(added.at(-1)).toEqual(armed);
      expect((await engine.read(serviceOf(owner), soon.id)).row.status).toBe('expired');
      expect((await engine.read(serviceOf(owner), last.id)).row.status).toBe('pending');
      expect(await contract.second.expireDue({ bucket, batch: BATCH })).toMatchObject({
        deadline: next.expiresAt,
      });
    });

    it('stays armed for the time in which only the pod that asked expires it, and is expired afterwards', async () => {
      const owner = await quietOwner();
      const bucket = bucketOf(owner);
      const { engine, added } = armingEngine();
      const { row } = await askQuestion(engine, owner, { timeoutSeconds: 0.05 });
      await untilDue(contract.first, row);
      const armed = await engine.expireDue({ bucket, batch: BATCH, overdueMs: 60_000 });
      expect(armed).toMatchObject({ deadline: row.expiresAt, elicitationId: row.id });
      expect(armed?.delayMs).toBeLessThanOrEqual(0);
      expect(added.at(-1)).toEqual(armed);
      expect((await engine.read(serviceOf(owner), row.id)).row.status).toBe('pending');
      const isOver = async () =>
        (await engine.expireDue({ bucket, batch: BATCH, overdueMs: 100 }))?.deadline !== row.expiresAt;
      await waitUntil(isOver, { what: 'the end of that time', everyMs: 5 });
      const { settledAt, status } = (await engine.read(serviceOf(owner), row.id)).row;
      expect(status).toBe('expired');
      expect((settledAt ?? 0) - row.expiresAt).toBeGreaterThanOrEqual(100);
    });

    it('does not keep an ask from arming its own once it has passed, although no worker took its job', async () => {
      const owner = await quietOwner();
      const { engine, added } = armingEngine();
      const { row } = await askQuestion(engine, owner, { timeoutSeconds: 0.05 });
      await untilDue(contract.first, row);
      const { row: next } = await askQuestion(engine, owner, { timeoutSeconds: 60 });
      expect(added.at(-1)).toMatchObject({ deadline: next.expiresAt, elicitationId: next.id });
    });

    it('gets its job again by the sweep of any pod, when it was lost or could not be added', async () => {
      const owner = await quietOwner();
      const failed: unknown[] = [];
      const broken = new Error('no jobs today');
      const asking = armingEngine({
        deadlineJobs: { add: () => Promise.reject(broken) },
        observer: { ...silentObserver, timerFailed: (id, error) => void failed.push([id, error]) },
      });
      const { row } = await askQuestion(asking.engine, owner, { timeoutSeconds: 60 });
      await waitUntil(() => failed.length > 0, { what: 'the failure', everyMs: 1 });
      expect(failed).toEqual([[row.id, broken]]);
      for (const backend of [contract.pods.backend, contract.pods.second]) {
        const { added, engine } = armingEngine({ elicitations: backend.elicitations });
        await engine.sweep();
        expect(added.find(({ bucket }) => bucket === bucketOf(owner))).toMatchObject({
          deadline: row.expiresAt,
          elicitationId: row.id,
        });
      }
    });
  });
}

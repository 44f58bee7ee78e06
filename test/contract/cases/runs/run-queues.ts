import { randomUUID } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import { UNOWNED } from '@parley/shared/domain/runs/run';
import type { RunConsumer } from '@parley/shared/ports/runs/run-queue';
import type { NewRun } from '@parley/shared/ports/runs/runs';
import { offerOrphans } from '@parley/shared/runs/offer-orphans';
import { afterEach, describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { newStream } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

/** Turns of pods that died, and how they come to others. */
export function runQueueContract(contract: Contract): void {
  const consumers: RunConsumer[] = [];
  afterEach(async () => {
    await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
  });

  /** Takes runs on both pods, as `take` does; gives back what was handed out, in order. */
  function taking(take: (stream: StreamRef) => Promise<void> = async () => undefined): StreamRef[] {
    const handed: StreamRef[] = [];
    for (const { runQueue } of [contract.pods.backend, contract.pods.second]) {
      consumers.push(
        runQueue.consume(async (stream) => {
          handed.push(stream);
          await take(stream);
        }),
      );
    }
    return handed;
  }

  const of = (handed: readonly StreamRef[], { streamRequestId }: StreamRef) =>
    handed.filter((one) => one.streamRequestId === streamRequestId);

  describe('a run that waits for a pod', () => {
    it('is handed to exactly one pod, even when it was offered before any pod listened', async () => {
      const { backend, second } = contract.pods;
      const before = newStream();
      await backend.runQueue.offer(before, 1);
      const handed = taking();
      const after = newStream();
      await second.runQueue.offer(after, 1);
      await waitUntil(() => of(handed, before).length + of(handed, after).length === 2, { what: 'both' });
      expect(of(handed, before)).toEqual([{ ...before }]);
      expect(of(handed, after)).toEqual([{ ...after }]);
    });

    it('goes to another pod while one is paused, and to that one again once it resumes', async () => {
      const { backend, second } = contract.pods;
      const taken: StreamRef[] = [];
      let isFull = true;
      const paused = backend.runQueue.consume(async (stream) => {
        // A delivery may be under way when the pod is paused.
        if (isFull) throw new ParleyError('pod_busy', 'This pod is full.');
        taken.push(stream);
      });
      consumers.push(paused);
      paused.pause();
      const [first, next] = [newStream(), newStream()];
      const handed: StreamRef[] = [];
      const other = second.runQueue.consume(async (stream) => void handed.push(stream));
      await backend.runQueue.offer(first, 1);
      await waitUntil(() => of(handed, first).length === 1, { what: 'the other pod to take it' });
      await other.close();
      isFull = false;
      paused.resume();
      await backend.runQueue.offer(next, 1);
      await waitUntil(() => of(taken, next).length === 1, { what: 'the resumed pod to take the next' });
      expect(of(taken, first)).toEqual([]);
    });

    it('is queued once however often it is offered under one term, and again under the next term', async () => {
      const { backend, second } = contract.pods;
      const [stream, last] = [newStream(), newStream()];
      for (const { runQueue } of [backend, second, backend]) await runQueue.offer(stream, 1);
      await second.runQueue.offer(stream, 2);
      const handed = taking();
      await waitUntil(() => of(handed, stream).length === 2, { what: 'both terms' });
      await backend.runQueue.offer(last, 1);
      await waitUntil(() => of(handed, last).length === 1, { what: 'the last one' });
      expect(of(handed, stream)).toHaveLength(2);
    });

    it('is handed out again when the pod failed to claim it', async () => {
      let refusals = 2;
      const handed = taking(async () => {
        refusals -= 1;
        if (refusals >= 0) throw new Error('Not now.');
      });
      const stream = newStream();
      await contract.pods.backend.runQueue.offer(stream, 1);
      await waitUntil(() => of(handed, stream).length === 3, { what: 'the third hand' });
    });

    it('is not taken by a pod that closes', async () => {
      const handed = taking();
      await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
      const stream = newStream();
      await contract.pods.backend.runQueue.offer(stream, 1);
      const later = taking();
      await waitUntil(() => of(later, stream).length === 1, { what: 'the run' });
      expect(of(handed, stream)).toEqual([]);
    });
  });

  describe('the turns of a pod that died', () => {
    const newTurn = (owner: string): NewRun => {
      const stream = newStream();
      const { streamRequestId: conversationId } = stream;
      return {
        ...stream,
        conversationId,
        agent: 'helper',
        owner,
        support: { form: true, url: true },
        input: [{ role: 'user', content: 'Hello' }],
        event: { type: 'turn-started', conversationId, messageId: 'msg', agent: 'helper' },
      };
    };

    it('wait in queues that are counted, on servers that tell what they are', async () => {
      const { installation } = contract.pods.second;
      for (const { waiting, active, delayed, failed } of await installation.queues())
        expect(Math.min(waiting, active, delayed, failed)).toBeGreaterThanOrEqual(0);
      for (const server of await installation.servers())
        expect(server).toMatchObject({ role: 'master', usedMemoryBytes: expect.any(Number) });
    });

    it('are offered until they are claimed; the dead pod is then removed from the index, and added again by its next heartbeat', async () => {
      const { backend, second } = contract.pods;
      const { heartbeats } = second;
      const [dead, alive] = [`dead-${randomUUID()}`, `alive-${randomUUID()}`];
      await Promise.all([heartbeats.beat(dead, 50), heartbeats.beat(alive, 60_000)]);
      const turn = newTurn(dead);
      await backend.runs.begin(turn);
      await waitUntil(async () => (await heartbeats.lapsed()).includes(dead), { what: 'the silence' });
      expect(await heartbeats.lapsed()).not.toContain(alive);
      const leases = await heartbeats.leases(10_000);
      for (const [pod, isAlive] of [[dead, false] as const, [alive, true] as const])
        expect(leases).toContainEqual({ pod, isAlive });
      expect(await heartbeats.leases(1)).toHaveLength(1);
      expect(await offerOrphans(backend, { evenIfNoneLapsed: false })).toBeGreaterThanOrEqual(1);
      expect(await heartbeats.lapsed()).toContain(dead);
      const handed = taking(async (stream) => {
        await second.runs.takeOver(stream, 1, alive);
      });
      await waitUntil(() => of(handed, turn).length === 1, { what: 'the turn' });
      await waitUntil(
        async () => {
          await offerOrphans(second, { evenIfNoneLapsed: false });
          return !(await heartbeats.lapsed()).includes(dead);
        },
        { what: 'the pod to be forgotten' },
      );
      await heartbeats.beat(dead, 50);
      await waitUntil(async () => (await heartbeats.lapsed()).includes(dead), { what: 'the second silence' });
    });

    it('that are unowned and in no queue are found by a full round of recovery', async () => {
      const { backend } = contract.pods;
      const turn = newTurn(UNOWNED);
      await backend.runs.begin(turn);
      const handed = taking();
      await offerOrphans(backend, { evenIfNoneLapsed: true });
      await waitUntil(() => of(handed, turn).length === 1, { what: 'the turn' });
    });
  });
}

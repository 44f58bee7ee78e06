import type { StreamRef } from '@parley/shared/domain/ids';
import type { RunConsumer } from '@parley/shared/ports/run-queue';
import { afterEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import type { Contract } from './contract.ts';
import { newStream } from './questions.ts';

/** Runs that wait for a pod. */
export function runQueueContract(contract: Contract): void {
  describe('a run that waits for a pod', () => {
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

    it('is handed to one of them, also when it was offered before anybody listened', async () => {
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

    it('is queued once however often it is offered under one term, and anew under the next', async () => {
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

    it('is handed out again when the pod could not take it', async () => {
      let refusals = 2;
      const handed = taking(async () => {
        refusals -= 1;
        if (refusals >= 0) throw new Error('Not now.');
      });
      const stream = newStream();
      await contract.pods.backend.runQueue.offer(stream, 1);
      await waitUntil(() => of(handed, stream).length === 3, { what: 'the third hand' });
    });

    it('is left to the others by a pod that closes', async () => {
      const handed = taking();
      await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
      const stream = newStream();
      await contract.pods.backend.runQueue.offer(stream, 1);
      const later = taking();
      await waitUntil(() => of(later, stream).length === 1, { what: 'the run' });
      expect(of(handed, stream)).toEqual([]);
    });
  });
}

import type { Elicitation, RetryOptions } from '@parley/sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChaosProxy, createChaosProxy } from '../../harness/chaos/proxy.ts';
import { freePort } from '../../harness/free-port.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import {
  colourQuestion,
  type Fault,
  isWait,
  QUICK,
  recordingFetch,
  serviceAt,
  userAt,
  type World,
} from '../../harness/sdk/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** Waiting through faults. It kills pods, so it is the last suite. */
export function faultSuite(world: () => World): void {
  /** The proxy between the client and the balancer. */
  let line: ChaosProxy;
  beforeEach(async () => {
    line = await createChaosProxy({ targetPort: world().balancer.port });
  });
  afterEach(() => line.close());

  /** Asks through the proxy, and returns once the client's long poll has reached a pod. */
  async function asked(more: RetryOptions = {}) {
    const { fetch, waits } = recordingFetch();
    const retry = { ...QUICK, ...more };
    const service = serviceAt(`http://127.0.0.1:${line.port}`, { fetch, retry });
    const { elicitation, outcome } = await service.start(colourQuestion({}));
    const channels = () =>
      redisCommand(world().redis.port, 'PUBSUB', 'CHANNELS', `*${elicitation.streamRequestId}*`);
    await waitUntil(async () => String(await channels()) !== '', { what: 'the first poll' });
    return { elicitation, outcome, waits };
  }

  /** Answers without the proxy. */
  async function answer({ userId, elicitationId }: Elicitation) {
    const user = userAt(world().balancer.url, userId);
    await user.answer(elicitationId, { action: 'accept', content: { colour: 'red' } });
  }

  const ACCEPTED = { status: 'accepted', content: { colour: 'red' } };

  describe('a waiter', () => {
    it('reconnects when its connection is reset', async () => {
      const { elicitation, outcome, waits } = await asked();
      line.reset();
      await waitUntil(() => waits() > 1, { what: 'a second poll' });
      await answer(elicitation);
      expect(await outcome).toMatchObject(ACCEPTED);
    });

    it('finds the answer that was given while it could not connect', async () => {
      const { elicitation, outcome, waits } = await asked();
      await line.refuse(true);
      line.reset();
      await answer(elicitation);
      await waitUntil(() => waits() > 2, { what: 'polls in vain' });
      await line.refuse(false);
      expect(await outcome).toMatchObject(ACCEPTED);
    });

    it('abandons an idle connection', async () => {
      const { elicitation, outcome, waits } = await asked({ pollSeconds: 1, attemptMs: 2_000 });
      line.killOld();
      await answer(elicitation);
      expect(await outcome).toMatchObject(ACCEPTED);
      expect(waits()).toBeGreaterThan(1);
    });

    it('backs off from a pod that replies before the question has ended', async () => {
      const { elicitation } = await asked();
      const at: number[] = [];
      const drained: Fault = (request) => {
        if (!isWait(request)) return undefined;
        at.push(performance.now());
        return at.length === 1 ? Promise.resolve(Response.json(elicitation)) : undefined;
      };
      const { fetch } = recordingFetch(drained);
      const again = serviceAt(world().balancer.url, { fetch, retry: { firstDelayMs: 400 } });
      const outcome = again.outcomeOf(elicitation.elicitationId);
      await waitUntil(() => at.length > 1, { what: 'a second poll' });
      expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(190);
      await answer(elicitation);
      expect(await outcome).toMatchObject(ACCEPTED);
    });

    it('fails with unavailable when no pod could be reached until the deadline plus the grace', async () => {
      const closed = `http://127.0.0.1:${await freePort()}`;
      const { fetch, waits } = recordingFetch((request) =>
        isWait(request) ? globalThis.fetch(closed) : undefined,
      );
      const cut = serviceAt(world().balancer.url, { fetch, retry: { ...QUICK, graceMs: 200 } });
      const { elicitation, outcome } = await cut.start(colourQuestion({ timeoutSeconds: 1 }));
      await expect(outcome).rejects.toMatchObject({ code: 'unavailable', status: undefined });
      expect(waits()).toBeGreaterThan(1);
      const later = serviceAt(world().balancer.url).outcomeOf(elicitation.elicitationId);
      expect(await later).toMatchObject({ status: 'expired' });
    });

    it('reads once more when its process slept past the deadline', async () => {
      const { elicitation } = await serviceAt(world().balancer.url).start(colourQuestion({}));
      // The question is about to expire. The process sleeps until its time is over; the answer came before that.
      const sleeps: Fault = (request) => {
        if (isWait(request)) return waits() === 1 ? new Promise(() => undefined) : undefined;
        const expiresAt = new Date(Date.parse(elicitation.serverTime) + 100).toISOString();
        return answer(elicitation).then(() => Response.json({ ...elicitation, expiresAt }));
      };
      const { fetch, waits } = recordingFetch(sleeps);
      const asleep = serviceAt(world().balancer.url, { fetch, retry: { ...QUICK, graceMs: 0 } });
      expect(await asleep.outcomeOf(elicitation.elicitationId)).toMatchObject(ACCEPTED);
      expect(waits()).toBeGreaterThan(1);
    });

    it('continues at another pod when its own is killed', async () => {
      const { balancer, pods } = world();
      const [doomed, other] = pods;
      if (doomed === undefined || other === undefined) throw new Error('two pods are needed');
      await balancer.setTargets([doomed.url]);
      const { elicitation, outcome, waits } = await asked();
      await balancer.setTargets([doomed.url, other.url]);
      doomed.kill('SIGKILL');
      await doomed.exited;
      pods.shift();
      await waitUntil(() => waits() > 1, { what: 'a second poll' });
      await answer(elicitation);
      expect(await outcome).toMatchObject(ACCEPTED);
    });
  });
}

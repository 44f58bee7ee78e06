import { watchedKey } from '@parley/shared/redis/tenants/keys';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { createDrain } from '../../../services/api/src/http/life/drain.ts';
import { createWatchers } from '../../../services/api/src/surfaces/admin/live/watchers.ts';
import { serviceOwner } from '../../../services/api/src/turns/principal.ts';
import { expectProblem } from '../../harness/attacks/call.ts';
import { describeOnRedis } from '../../harness/engines/describe-on-redis.ts';
import { engineOn } from '../../harness/engines/engines.ts';
import { answerQuestion, askQuestion, newOwner } from '../../harness/engines/questions.ts';
import { turnOf } from '../../harness/engines/turn-writes.ts';
import { adminKeyOf, serveAdmin } from '../../harness/http/admin.ts';
import { readEvents } from '../../harness/http/read-events.ts';
import { waitUntil } from '../../harness/wait-until.ts';

interface SeenEvent {
  readonly event: string | undefined;
  readonly data: unknown;
}

await describeOnRedis('watching a tenant', (pods, url) => {
  const engine = engineOn(pods.backend);

  /** Serves the admin API of the second pod to an operator of a new tenant. */
  async function site(more = {}) {
    const alice = newOwner();
    const stranger = newOwner();
    const drain = createDrain();
    const served = await serveAdmin(pods.second, [alice, stranger], { more, drain });
    const open: AbortController[] = [];

    async function watch(token = adminKeyOf(alice, 'operate')) {
      const events: SeenEvent[] = [];
      const stop = new AbortController();
      open.push(stop);
      const reply = await fetch(`${served.url}/v1/admin/events`, {
        headers: { authorization: `Bearer ${token}` },
        signal: stop.signal,
      });
      const done = readEvents(reply, ({ event, data }) =>
        events.push({ event, data: JSON.parse(data) }),
      ).catch(() => undefined);
      return { reply, events, done, stop: () => stop.abort() };
    }

    return {
      alice,
      stranger,
      drain,
      served,
      watch,
      close() {
        for (const stop of open) stop.abort();
        served.close();
      },
    };
  }

  it('follows questions and turns of all users, by names alone, and none of another tenant', async () => {
    const { alice, stranger, watch, close } = await site();
    const { events } = await watch();
    await waitUntil(() => events.length === 1, { what: 'the first event' });
    expect(events).toEqual([{ event: 'reload', data: {} }]);
    await askQuestion(engine, stranger);
    const { row } = await askQuestion(engine, alice, { message: 'A secret?' });
    await waitUntil(() => events.length === 2, { what: 'the begin, of which a slow reader is not told' });
    await answerQuestion(engine, alice, row.id, 'accept', { colour: 'red', note: 'secret' });
    const ofKey = serviceOwner(alice.tenant, 'key-2');
    const turn = turnOf(ofKey);
    await pods.backend.runs.begin(turn);
    await waitUntil(() => events.length >= 4, { what: 'the changes' });
    const at = expect.stringMatching(/^\d{4}-/);
    const ofQuestion = { kind: 'elicitation', id: row.id, at, userId: alice.userId };
    expect(events.slice(1)).toEqual([
      { event: 'change', data: { ...ofQuestion, change: 'began' } },
      { event: 'change', data: { ...ofQuestion, change: 'ended' } },
      {
        event: 'change',
        data: { kind: 'turn', id: turn.streamRequestId, change: 'began', at, key: 'key-2' },
      },
    ]);
    expect(JSON.stringify(events)).not.toContain('secret');
    close();
  });

  it('tells its reader to read everything again where changes may have been missed', async () => {
    const { alice, watch, close } = await site();
    const { events } = await watch();
    const redis = new Redis(url);
    const names = () => events.map(({ event }) => event);
    await waitUntil(() => events.length === 1, { what: 'the first event' });
    await redis.incr(watchedKey(alice));
    await askQuestion(engine, alice);
    const reloads = () => names().filter((name) => name === 'reload').length;
    await waitUntil(() => reloads() === 2, { what: 'the change, after one that did not come' });
    const before = events.length;
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await waitUntil(() => reloads() === 3, { what: 'the subscription to come back' });
    await askQuestion(engine, alice);
    await waitUntil(() => events.length === before + 2, { what: 'the next change' });
    expect(names().slice(before)).toEqual(['reload', 'change']);
    redis.disconnect();
    close();
  });

  it('is limited by operator and by tenant, and a stream that ends frees its place', async () => {
    const { alice, stranger, served, watch, close } = await site({
      watchers: createWatchers({ ofOperatorMax: 2, ofTenantMax: 3 }, () => undefined),
    });
    const [operator, other] = [adminKeyOf(alice, 'operate'), adminKeyOf(alice, 'operate+read_content')];
    const refused = async (token: string) =>
      expectProblem(await served.get('/events', token), 429, 'rate_limited');
    const first = await watch(operator);
    await watch(operator);
    await refused(operator);
    await watch(other);
    await refused(other);
    expect((await watch(adminKeyOf(stranger, 'operate'))).reply.status).toBe(200);
    first.stop();
    await waitUntil(async () => (await watch(other)).reply.status === 200, { what: 'a free place' });
    await refused(operator);
    close();
  });

  it('ends where the pod drains, and tells its reader when to come back', async () => {
    const { drain, watch, close } = await site();
    const { events, done } = await watch();
    await waitUntil(() => events.length === 1, { what: 'the first event' });
    drain.begin();
    await done;
    expect(events).toHaveLength(1);
    close();
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import type { RedisServer } from '../harness/redis/redis-server.ts';
import { type SentinelTopology, startSentinel } from '../harness/redis/sentinel.ts';
import { bringBack, type Fleet, openFleet, throughFailovers } from '../harness/site/failover.ts';
import { waitUntil } from '../harness/wait-until.ts';

const NAME = 'F7 behind Sentinels, a load continues through the failover, and its losses are counted';

// Long enough that a busy machine is not mistaken for a dead master: only the intended failovers happen.
const DOWN_AFTER_MS = 3_000;

// As documented: a master without replicas accepts no writes.
const started = await startSentinel({ minReplicas: 1, downAfterMs: DOWN_AFTER_MS }).catch((error: unknown) =>
  String(error),
);

if (typeof started === 'string') suiteNotRun(NAME, started);
else describe(NAME, () => suite(started));

function suite(started: SentinelTopology): void {
  const { servers, sentinels, name, masterPort } = started;
  let fleet: Fleet | undefined;

  afterAll(async () => {
    await fleet?.stop();
    await started.stop();
  });

  /** Waits until the master has both replicas again; the next failover needs them. */
  async function inStep(): Promise<void> {
    await waitUntil(
      async () => {
        const info = String(await redisCommand(await masterPort(), 'INFO', 'replication'));
        return info.split('state=online').length === servers.length;
      },
      { what: 'both replicas to follow', timeoutMs: 60_000, everyMs: 250 },
    );
  }

  it('when the master is killed, when it is frozen, and when the failover is planned', async () => {
    fleet = await openFleet({
      PARLEY_REDIS_SENTINELS: sentinels.map(({ host, port }) => `${host}:${port}`).join(','),
      PARLEY_REDIS_SENTINEL_NAME: name,
    });
    const heal = async () => {
      await bringBack(servers);
      await inStep();
    };
    const failover = (what: string, end: () => Promise<RedisServer>) => ({
      name: what,
      heal,
      async cause() {
        const old = await end();
        expect(await started.newMaster(old.port)).not.toBe(old.port);
      },
    });
    await throughFailovers(
      fleet,
      'F7 Sentinel, the master is killed, then frozen, then replaced as planned',
      [
        failover('the master is killed', () => started.killMaster()),
        failover('the master is frozen', () => started.pauseMaster()),
        { name: 'a planned failover', cause: () => started.failover(), heal: inStep },
      ],
    );
  });
}

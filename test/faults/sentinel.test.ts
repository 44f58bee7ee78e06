import { afterAll, describe, expect, it } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { type SentinelTopology, startSentinel } from '../harness/redis/sentinel.ts';
import { bringBack, type Fleet, openFleet, throughFailover } from '../harness/site/failover.ts';
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

  async function startFleet(): Promise<Fleet> {
    fleet ??= await openFleet({
      PARLEY_REDIS_SENTINELS: sentinels.map(({ host, port }) => `${host}:${port}`).join(','),
      PARLEY_REDIS_SENTINEL_NAME: name,
    });
    return fleet;
  }

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

  it.each(['killed', 'frozen'] as const)('when the master is %s', async (how) => {
    await throughFailover(await startFleet(), {
      title: `F7 Sentinel, the master is ${how}`,
      async cause() {
        const old = await (how === 'killed' ? started.killMaster() : started.pauseMaster());
        expect(await started.newMaster(old.port)).not.toBe(old.port);
      },
      async heal() {
        await bringBack(servers);
        await inStep();
      },
    });
  });

  it('when the failover is planned', async () => {
    await throughFailover(await startFleet(), {
      title: 'F7 Sentinel, a planned failover',
      cause: () => started.failover(),
      heal: inStep,
    });
  });
}

import { afterAll, describe, expect, it } from 'vitest';
import { suiteNotRun } from '../../harness/not-run.ts';
import { startPod } from '../../harness/processes/processes.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type SentinelTopology, startSentinel } from '../../harness/redis/sentinel.ts';

const NAME = 'Sentinels that ask for a password';
const PASSWORD = 'a-password-of-the-sentinels';

const started = await startSentinel({ downAfterMs: 30_000 }).catch((error: unknown) => String(error));
if (typeof started === 'string') suiteNotRun(NAME, started);
else describe(NAME, () => suite(started));

function suite({ sentinels, name, stop }: SentinelTopology): void {
  afterAll(() => stop());

  it('accept a pod with the password', async () => {
    const [{ host, port } = { host: '', port: 0 }] = sentinels;
    await redisCommand(port, 'ACL', 'SETUSER', 'default', 'on', 'resetpass', `>${PASSWORD}`);
    await expect(redisCommand(port, 'SENTINEL', 'MASTERS')).rejects.toThrow('NOAUTH');
    const pod = await startPod({
      PARLEY_REDIS_SENTINELS: `${host}:${port}`,
      PARLEY_REDIS_SENTINEL_NAME: name,
      PARLEY_REDIS_SENTINELS_PASSWORD: PASSWORD,
    });
    try {
      expect((await fetch(`${pod.url}/readyz`)).status).toBe(200);
    } finally {
      await pod.stop();
    }
  });
}

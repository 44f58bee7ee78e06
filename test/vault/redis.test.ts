import { afterAll } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
import { openRedisVault } from '../harness/vault/redis-stores.ts';
import { vaultContract } from './suite.ts';

const NAME = 'the vault on one Redis';

// A separate server, because a change of keys reads all records.
const server = await startRedis().catch((error: unknown) => String(error));
if (typeof server === 'string') {
  suiteNotRun(NAME, server);
} else {
  afterAll(() => server.stop());
  vaultContract(NAME, () => openRedisVault({ kind: 'single', url: server.url }, [server.port]));
}

import { Cluster, Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { startCluster } from '../../harness/redis/cluster.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { startSentinel } from '../../harness/redis/sentinel.ts';

const SLOT_OF_FOO = 12_182;

describe('startSentinel', () => {
  it('fails over after a kill, and then on request', async () => {
    const topology = await startSentinel();
    try {
      const first = await topology.masterPort();
      expect(topology.sentinels).toHaveLength(3);
      const killed = await topology.killMaster();
      expect(killed.port).toBe(first);
      const second = await topology.newMaster(first);
      const client = new Redis({ sentinels: topology.sentinels, name: topology.name });
      expect(await client.set('k', 'v').finally(() => client.disconnect())).toBe('OK');
      expect(await redisCommand(second, 'GET', 'k')).toBe('v');
      const third = await topology.failover();
      expect(third).not.toBe(second);
      expect(await topology.masterPort()).toBe(third);
    } finally {
      await topology.stop();
    }
    expect(topology.servers.map((server) => server.running)).toEqual([false, false, false]);
  }, 120_000);

  it('fails over when the master freezes, with minReplicas in force', async () => {
    const topology = await startSentinel({ minReplicas: 1 });
    try {
      const frozen = await topology.pauseMaster();
      const next = await topology.newMaster(frozen.port);
      expect(await redisCommand(next, 'CONFIG', 'GET', 'min-replicas-to-write')).toContain('1');
      frozen.resume();
    } finally {
      await topology.stop();
    }
  }, 120_000);
});

describe('startCluster', () => {
  it('serves all slots again after a master was killed and another was frozen', async () => {
    const cluster = await startCluster();
    try {
      expect(cluster.nodes).toHaveLength(6);
      const before = await cluster.masterOf(SLOT_OF_FOO);
      expect(await redisCommand(before, 'SET', 'foo', 'bar')).toBe('OK');
      expect(await redisCommand(before, 'WAIT', 1, 20_000)).toBe(1);
      const killed = await cluster.killMasterOf(SLOT_OF_FOO);
      expect(killed.port).toBe(before);
      await cluster.waitOk();
      const after = await cluster.masterOf(SLOT_OF_FOO);
      expect(after).not.toBe(before);
      const client = new Cluster(cluster.nodes);
      expect(await client.get('foo').finally(() => client.disconnect())).toBe('bar');
      await killed.restart();
      await cluster.waitOk();
      const frozen = await cluster.pauseMasterOf(0);
      await cluster.waitOk();
      expect(await cluster.masterOf(0)).not.toBe(frozen.port);
    } finally {
      await cluster.stop();
    }
    expect(cluster.servers.some((server) => server.running)).toBe(false);
  }, 120_000);
});

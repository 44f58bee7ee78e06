/**
 * Builds all ports on Redis from their parts, with their connections and health. It contains no command of a port; each port
 * has its own folder.
 */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import { APPROVALS } from '../domain/approvals/family.ts';
import type { Backend, BackendSettings } from '../ports/backend.ts';
import { recordsByKind } from '../ports/owner-records.ts';
import type { RedisLocation } from '../ports/redis-location.ts';
import {
  type Commands,
  connectCommands,
  connectProducer,
  connectSubscriber,
  firstAttempt,
} from './client/connect.ts';
import { canaryKey, probeChannel, writeProbeKey } from './client/keys.ts';
import { createSubscriber } from './client/subscriber.ts';
import { servesReads } from './client/unavailable.ts';
import { createRedisClaims } from './elicitations/claims.ts';
import { createRedisElicitations } from './elicitations/elicitations.ts';
import { createRedisRecords } from './elicitations/records.ts';
import { createRedisStoredRecords } from './elicitations/stored-records.ts';
import { createRedisErasure } from './erasure/erasure.ts';
import { RedisEventBus } from './feed/event-bus.ts';
import { createRedisFeed } from './feed/feed.ts';
import { decodeMisfit, decodeReplied, encodeMisfit, encodeReplied } from './feed/hint-codecs.ts';
import { decodePushedCall } from './feed/pushed-call-codec.ts';
import { decodeApprovalWake, decodeInboxWake, decodeWake, encodeWake } from './feed/wake-codec.ts';
import { createRedisInstallation } from './installation.ts';
import { createDeadlineJobs } from './jobs/timers.ts';
import { createRedisLimits } from './limits/limits.ts';
import { createRedisDeadLetters } from './outbox/dead-letters.ts';
import { createRedisOutbox } from './outbox/outbox.ts';
import { createRedisSubscriptions } from './outbox/subscriptions.ts';
import { createRedisPageStore } from './pages/store.ts';
import { createRedisOwnerRecords } from './records/records.ts';
import { createRedisConversations } from './runs/conversations.ts';
import { createRedisHeartbeats } from './runs/heartbeats.ts';
import { createQueueRuns } from './runs/run-queue.ts';
import { createRedisRuns } from './runs/runs.ts';
import { createRedisTenantChanges } from './tenants/changes.ts';
import { createRedisTenantLists } from './tenants/lists.ts';
import { createRedisVaultStore } from './vault/store.ts';

// Load balancers allow two seconds for a probe, and a Redis that hangs would use up all of it.
const VAULT_PROBE_MS = 300;

interface RedisBackendOptions {
  readonly location: RedisLocation;
  /** The Redis that stores credentials, if it is a separate one. */
  readonly vaultLocation?: RedisLocation;
  readonly settings: BackendSettings;
  /** The number of BullMQ queues that share the deadlines. */
  readonly timerQueues: number;
  /** Called with every failed command. */
  readonly onError?: (error: unknown) => void;
}

export interface RedisBackend extends Backend {
  /**
   * Resolves when the first attempt to connect has ended, with or without success, within two seconds. Commands sent earlier
   * fail.
   */
  opened(): Promise<unknown>;
}

/** All ports on Redis: one server, Sentinel or Cluster. Connects at once; `health` says when it is usable. */
export function createRedisBackend(options: RedisBackendOptions): RedisBackend {
  const { location, vaultLocation, settings, timerQueues, onError } = options;
  const redis = connectCommands(location);
  const producer = connectProducer(location);
  const vaultRedis = vaultLocation === undefined ? redis : connectCommands(vaultLocation);
  const connections = new Set([redis, producer, vaultRedis]);
  const vaultAnswers = vaultRedis === redis ? undefined : answersInTime(vaultRedis);
  const probe = probeChannel(randomUUID());
  const subscriber = createSubscriber({
    open: (attempt) => connectSubscriber(location, redis, attempt),
    probeChannel: probe,
    publishProbe: () => redis.publish(probe, ''),
  });
  const deadlineJobs = createDeadlineJobs(producer, timerQueues);
  const runQueue = createQueueRuns({ location, producer, ...(onError !== undefined && { onError }) });
  const stored = { redis, settings, ...(onError !== undefined && { onError }) };
  function bus<Event>(
    family: string,
    encode: (event: Event) => string,
    decode: (message: string) => Event | undefined,
  ): RedisEventBus<Event> {
    return new RedisEventBus({ redis, subscriber, family, encode, decode });
  }

  return {
    elicitations: createRedisElicitations(stored),
    approvals: createRedisRecords(stored, APPROVALS),
    records: createRedisStoredRecords(stored),
    feed: createRedisFeed(redis, onError),
    runs: createRedisRuns(stored),
    runQueue,
    outbox: createRedisOutbox(redis, subscriber, onError),
    subscriptions: createRedisSubscriptions(redis, onError),
    deadLetters: createRedisDeadLetters({ ...stored, keepMs: settings.deadLetterMs }),
    conversations: createRedisConversations(redis, onError),
    heartbeats: createRedisHeartbeats({
      redis,
      // On a Cluster, each pod subscribes at some node, and no node knows the subscribers of the others.
      ...(location.kind !== 'cluster' && { line: { channel: probe, healthyForMs: subscriber.healthyForMs } }),
      ...(onError !== undefined && { onError }),
    }),
    wakes: bus('stream', encodeWake, decodeWake),
    approvalWakes: bus('stream', encodeWake, decodeApprovalWake),
    inboxWakes: bus('inbox', encodeWake, decodeInboxWake),
    answerMisfits: bus('stream', encodeMisfit, decodeMisfit),
    clientReplies: bus('stream', encodeReplied, decodeReplied),
    subscriptionChanges: bus<'changed'>(
      'subscriptions',
      (event) => event,
      (message) => (message === 'changed' ? message : undefined),
    ),
    pushedCalls: bus('pushed', JSON.stringify, decodePushedCall),
    deadlineJobs,
    claims: createRedisClaims(redis, onError),
    limits: createRedisLimits(redis, onError),
    vault: createRedisVaultStore(vaultRedis, onError),
    pages: createRedisPageStore(redis, onError),
    erasure: createRedisErasure(redis, onError),
    tenantLists: createRedisTenantLists(redis, onError),
    tenantChanges: createRedisTenantChanges({ redis, subscriber, onError }),
    ownerRecords: recordsByKind(settings.workflowEntriesMax, (kind, bound) =>
      createRedisOwnerRecords(redis, { kind, bound, onError }),
    ),
    installation: createRedisInstallation({ redis, timerQueues, onError }),
    opened: () => Promise.all([...connections].map(firstAttempt)),
    async health() {
      const [commands, timerCanaryAgeMs, vault] = await Promise.all([
        answers(redis),
        canaryAge(redis),
        vaultAnswers?.(),
      ]);
      return {
        commands,
        subscription: subscriber.healthy(),
        ...(vault !== undefined && { vault }),
        ...(timerCanaryAgeMs !== undefined && { timerCanaryAgeMs }),
      };
    },
    async close() {
      await subscriber.close();
      await Promise.allSettled([deadlineJobs.close(), runQueue.close()]);
      for (const connection of connections) connection.disconnect();
    },
  };
}

/**
 * Whether Redis answers commands and is not a replica. A server that is full, has lost its replicas or cannot save still serves
 * reads, so its pods stay ready. On a Cluster any node may answer: masters change independently of the pods, and the loss of
 * one must not make all pods unready.
 */
async function answers(redis: Commands): Promise<boolean> {
  try {
    if (redis instanceof Cluster) await redis.ping();
    else await redis.del(writeProbeKey());
    return true;
  } catch (error) {
    return servesReads(error);
  }
}

/** The same as `answers`, but never waits for long. If Redis does not answer in time, the result is that of its last answer. */
function answersInTime(redis: Commands): () => Promise<boolean> {
  let known = false;
  let asking: Promise<boolean> | undefined;
  async function ask(): Promise<boolean> {
    known = await answers(redis);
    asking = undefined;
    return known;
  }
  return () => {
    asking ??= ask();
    return Promise.race([asking, sleep(VAULT_PROBE_MS, undefined, { ref: false }).then(() => known)]);
  };
}

async function canaryAge(redis: Commands): Promise<number | undefined> {
  try {
    const [beat, [seconds, microseconds]] = await Promise.all([redis.get(canaryKey()), redis.time()]);
    if (beat === null) return undefined;
    return Math.max(0, Number(seconds) * 1000 + Number(microseconds) / 1000 - Number(beat));
  } catch {
    return undefined;
  }
}

/**
 * One Redis connection for all subscriptions of a pod, which knows when messages may have been missed. What messages mean, and
 * what a listener reads after a `resync`, is not known here.
 */

import type { Redis } from 'ioredis';
import { reconnectPauseMs } from './reconnect.ts';
import { createResyncQueue } from './resync-queue.ts';

/** A message of a channel, or `resync`: messages may have been missed since the last one. */
type ChannelSignal = { readonly type: 'message'; readonly message: string } | { readonly type: 'resync' };
type ChannelListener = (signal: ChannelSignal) => void;

export interface Subscriber {
  /**
   * Calls the listener with `resync` when the subscription is acknowledged, and within seconds after every reconnect, and with
   * each message in between. Returns the function that unsubscribes.
   */
  subscribe(channel: string, listener: ChannelListener): () => void;
  /** True while connected and subscribed. The subscription of a channel that was just added may not be acknowledged yet. */
  healthy(): boolean;
  /**
   * For how long the connection has been healthy since the last one was lost, in ms: 0 when it is not healthy, Infinity when
   * none was lost.
   */
  healthyForMs(): number;
  close(): Promise<void>;
}

interface SubscriberOptions {
  /**
   * Opens a connection that does not reconnect by itself and limits the time of its handshake and of each command. `attempt` is
   * the number of earlier connections.
   */
  readonly open: (attempt: number) => Redis;
  /** A channel of this pod alone, for testing that published messages arrive. */
  readonly probeChannel: string;
  /** Publishes to the probe channel in the same way as wakes are published. */
  readonly publishProbe: () => Promise<unknown>;
  readonly pingEveryMs?: number;
  readonly probeEveryMs?: number;
  /** How long an unused channel stays subscribed, so that the next long poll on it starts at once. */
  readonly lingerMs?: number;
}

const BATCH = 512;
const DEFAULTS = { pingEveryMs: 2_000, probeEveryMs: 10_000, lingerMs: 2_000 };

/**
 * One connection for all subscriptions of a pod. Every new connection subscribes to all channels in batches, waits for the
 * acknowledgement, and then calls each listener with `resync`: at once for a new channel, spread over seconds for channels that
 * were subscribed before. Pings detect a dead connection. A published probe that must come back detects a live connection to
 * the wrong server.
 */
export function createSubscriber(options: SubscriberOptions): Subscriber {
  const { pingEveryMs, probeEveryMs, lingerMs } = { ...DEFAULTS, ...options };
  const listeners = new Map<string, Set<ChannelListener>>([
    [options.probeChannel, new Set([() => onProbe()])],
  ]);
  const acknowledged = new Set<string>();
  const pending = new Set<string>();
  /** Channels that were subscribed on an earlier connection, but not yet on this one. */
  const interrupted = new Set<string>();
  const resyncs = createResyncQueue((channel) => notify(channel, { type: 'resync' }));
  const idle = new Set<string>();
  const intervals: NodeJS.Timeout[] = [];
  let connection: Redis | undefined;
  let opened = 0;
  let attempt = 0;
  let closed = false;
  let flushing = false;
  let probeSentAt: number | undefined;
  let hasLost = false;
  let healthySince = Number.NEGATIVE_INFINITY;
  let reopening: NodeJS.Timeout | undefined;

  function connect(): void {
    const redis = options.open(opened);
    opened += 1;
    connection = redis;
    attempt += 1;
    redis.on('error', () => undefined);
    redis.on('message', (channel: string, message: string) => notify(channel, { type: 'message', message }));
    redis.once('ready', () => onReady(redis));
    redis.once('end', () => onEnd(redis));
    redis.connect().catch(() => undefined);
  }

  function onReady(redis: Redis): void {
    if (redis !== connection) return;
    attempt = 1;
    for (const channel of listeners.keys()) pending.add(channel);
    void flush();
  }

  function onEnd(redis: Redis): void {
    // A connection that has ended may still have open connections to Sentinels.
    redis.disconnect(false);
    if (redis !== connection || closed) return;
    for (const channel of acknowledged) interrupted.add(channel);
    hasLost = true;
    acknowledged.clear();
    pending.clear();
    probeSentAt = undefined;
    reopening = setTimeout(connect, reconnectPauseMs(attempt));
  }

  /** Closes the connection if it is the current one; its `end` event opens the next one. */
  function abandon(redis: Redis | undefined): void {
    if (redis === connection) redis?.disconnect(false);
  }

  async function flush(): Promise<void> {
    if (flushing) return;
    flushing = true;
    try {
      // All subscriptions of this turn of the event loop go into one batch.
      await new Promise(setImmediate);
      while (pending.size > 0 && connection?.status === 'ready' && (await subscribeBatch(connection)));
    } finally {
      flushing = false;
    }
  }

  /** Returns false when the connection cannot subscribe. */
  async function subscribeBatch(redis: Redis): Promise<boolean> {
    const batch = [...pending].slice(0, BATCH);
    try {
      await redis.subscribe(...batch);
    } catch {
      // The next connection subscribes to everything again. Until the end of this one is noticed, it reports ready, and an
      // immediate retry would keep the event loop from noticing its end.
      if (redis !== connection) return true;
      abandon(redis);
      return false;
    }
    if (redis !== connection || redis.status !== 'ready') return true;
    for (const channel of batch) {
      pending.delete(channel);
      acknowledged.add(channel);
      if (channel === options.probeChannel && hasLost) healthySince = performance.now();
      if (!interrupted.has(channel)) notify(channel, { type: 'resync' });
    }
    resyncs.add(batch.filter((channel) => interrupted.delete(channel) && hasListeners(channel)));
    return true;
  }

  function healthy(): boolean {
    return connection?.status === 'ready' && acknowledged.has(options.probeChannel);
  }

  function hasListeners(channel: string): boolean {
    return (listeners.get(channel)?.size ?? 0) > 0;
  }

  function notify(channel: string, signal: ChannelSignal): void {
    for (const listener of [...(listeners.get(channel) ?? [])]) listener(signal);
  }

  function onProbe(): void {
    probeSentAt = undefined;
  }

  function ping(): void {
    const redis = connection;
    if (redis?.status !== 'ready') return;
    redis.ping().catch(() => abandon(redis));
  }

  function probe(): void {
    if (!acknowledged.has(options.probeChannel)) return;
    if (probeSentAt !== undefined) {
      probeSentAt = undefined;
      abandon(connection);
      return;
    }
    // If publishing fails, a missing probe proves nothing about this connection.
    options.publishProbe().then(
      () => undefined,
      () => onProbe(),
    );
    probeSentAt = performance.now();
  }

  function dropIdle(): void {
    // Channels whose subscription is not acknowledged yet are left for the next round.
    const settled = [...idle].filter((channel) => !pending.has(channel));
    const unwanted = settled.filter((channel) => !hasListeners(channel));
    for (const channel of settled) idle.delete(channel);
    for (const channel of unwanted) {
      listeners.delete(channel);
      acknowledged.delete(channel);
      interrupted.delete(channel);
    }
    for (let from = 0; from < unwanted.length; from += BATCH) {
      connection?.unsubscribe(...unwanted.slice(from, from + BATCH)).catch(() => undefined);
    }
  }

  function every(ms: number, run: () => void): void {
    intervals.push(setInterval(run, ms).unref());
  }

  connect();
  every(pingEveryMs, ping);
  every(probeEveryMs, probe);
  every(lingerMs, dropIdle);

  return {
    subscribe(channel, listener) {
      const set = listeners.get(channel) ?? new Set<ChannelListener>();
      listeners.set(channel, set);
      set.add(listener);
      idle.delete(channel);
      if (acknowledged.has(channel)) {
        queueMicrotask(() => set.has(listener) && listener({ type: 'resync' }));
      } else {
        pending.add(channel);
        void flush();
      }
      return () => {
        set.delete(listener);
        if (set.size === 0) idle.add(channel);
      };
    },
    healthy,
    healthyForMs: () => (healthy() ? performance.now() - healthySince : 0),
    async close() {
      closed = true;
      for (const interval of intervals) clearInterval(interval);
      clearTimeout(reopening);
      resyncs.close();
      connection?.disconnect(false);
    },
  };
}

import type { Redis } from 'ioredis';
import { reconnectPauseMs } from './reconnect.ts';

/** A message, or word that messages may have been missed since the last one. */
export type ChannelSignal =
  | { readonly type: 'message'; readonly message: string }
  | { readonly type: 'resync' };
export type ChannelListener = (signal: ChannelSignal) => void;

export interface Subscriber {
  /** Hears `resync` once the subscription is acknowledged and after every reconnect, and every message between. */
  subscribe(channel: string, listener: ChannelListener): () => void;
  /** True while connected and subscribed; channels that were just asked for may still await their acknowledgement. */
  healthy(): boolean;
  close(): Promise<void>;
}

export interface SubscriberOptions {
  /** Opens a fresh connection that does not reconnect by itself; told how many were opened before. */
  readonly open: (attempt: number) => Redis;
  /** A channel of this pod's own, to prove that what is published arrives. */
  readonly probeChannel: string;
  /** Publishes to the probe channel the way wakes are published. */
  readonly publishProbe: () => Promise<unknown>;
  readonly pingEveryMs?: number;
  readonly probeEveryMs?: number;
  /** How long an unused channel stays subscribed, so that the next long poll finds it warm. */
  readonly lingerMs?: number;
}

const BATCH = 512;
const DEFAULTS = { pingEveryMs: 2_000, probeEveryMs: 10_000, lingerMs: 2_000 };

/**
 * One connection for all subscriptions of a pod. It never trusts a connection to have kept them: every (re)connect
 * subscribes to all wanted channels in batches, waits for the acknowledgement, then tells each listener to resync.
 * Pings notice a dead link; a probe through the publishing side notices a live link to the wrong server.
 */
export function createSubscriber(options: SubscriberOptions): Subscriber {
  const { pingEveryMs, probeEveryMs, lingerMs } = { ...DEFAULTS, ...options };
  const listeners = new Map<string, Set<ChannelListener>>([
    [options.probeChannel, new Set([() => heardProbe()])],
  ]);
  const acknowledged = new Set<string>();
  const pending = new Set<string>();
  const idle = new Set<string>();
  const beats: NodeJS.Timeout[] = [];
  let connection: Redis | undefined;
  let opened = 0;
  let attempt = 0;
  let closed = false;
  let flushing = false;
  let probeSentAt: number | undefined;
  let reopening: NodeJS.Timeout | undefined;

  function connect(): void {
    const redis = options.open(opened);
    opened += 1;
    connection = redis;
    attempt += 1;
    redis.on('error', () => undefined);
    redis.on('message', (channel: string, message: string) => tell(channel, { type: 'message', message }));
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
    // What ended by itself still holds on to its Sentinels.
    redis.disconnect(false);
    if (redis !== connection || closed) return;
    acknowledged.clear();
    pending.clear();
    probeSentAt = undefined;
    reopening = setTimeout(connect, reconnectPauseMs(attempt));
  }

  /** Leaves this connection; `end` opens the next. */
  function abandon(): void {
    connection?.disconnect(false);
  }

  async function flush(): Promise<void> {
    if (flushing) return;
    flushing = true;
    try {
      // Let every subscribe of this turn join the batch.
      await new Promise(setImmediate);
      while (pending.size > 0 && connection?.status === 'ready' && (await subscribeBatch(connection)));
    } finally {
      flushing = false;
    }
  }

  /** False when the connection turned out to be of no use. */
  async function subscribeBatch(redis: Redis): Promise<boolean> {
    const batch = [...pending].slice(0, BATCH);
    try {
      await redis.subscribe(...batch);
    } catch {
      // A connection that cannot subscribe is of no use; the next one subscribes to everything again.
      // It calls itself ready until its end is known, and trying again at once would keep that from being known.
      if (redis !== connection) return true;
      abandon();
      return false;
    }
    if (redis !== connection || redis.status !== 'ready') return true;
    for (const channel of batch) {
      pending.delete(channel);
      acknowledged.add(channel);
      tell(channel, { type: 'resync' });
    }
    return true;
  }

  function tell(channel: string, signal: ChannelSignal): void {
    for (const listener of [...(listeners.get(channel) ?? [])]) listener(signal);
  }

  function heardProbe(): void {
    probeSentAt = undefined;
  }

  function ping(): void {
    const redis = connection;
    if (redis?.status !== 'ready') return;
    const late = setTimeout(() => redis === connection && abandon(), pingEveryMs);
    redis.ping().then(
      () => clearTimeout(late),
      () => clearTimeout(late),
    );
  }

  function probe(): void {
    if (!acknowledged.has(options.probeChannel)) return;
    if (probeSentAt !== undefined) {
      probeSentAt = undefined;
      abandon();
      return;
    }
    // When the publishing side is away, silence says nothing about this connection.
    options.publishProbe().then(
      () => undefined,
      () => heardProbe(),
    );
    probeSentAt = performance.now();
  }

  function dropIdle(): void {
    // One that is just being subscribed waits for the next round: its acknowledgement is still to come.
    const settled = [...idle].filter((channel) => !pending.has(channel));
    const unwanted = settled.filter((channel) => listeners.get(channel)?.size === 0);
    for (const channel of settled) idle.delete(channel);
    for (const channel of unwanted) {
      listeners.delete(channel);
      acknowledged.delete(channel);
    }
    for (let from = 0; from < unwanted.length; from += BATCH) {
      connection?.unsubscribe(...unwanted.slice(from, from + BATCH)).catch(() => undefined);
    }
  }

  function every(ms: number, run: () => void): void {
    beats.push(setInterval(run, ms).unref());
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
    healthy: () => connection?.status === 'ready' && acknowledged.has(options.probeChannel),
    async close() {
      closed = true;
      for (const beat of beats) clearInterval(beat);
      clearTimeout(reopening);
      connection?.disconnect(false);
    },
  };
}

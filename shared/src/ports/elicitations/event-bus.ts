import type { Owner } from '@parley/core/domain/ids';

/** The subject of a channel: one stream request of an owner, or the owner as a whole. */
export interface Topic extends Owner {
  /** Absent for a topic that is about the owner as a whole (the inbox). */
  readonly streamRequestId?: string;
}

export type BusSignal<T> =
  | { readonly type: 'event'; readonly event: T }
  /** The subscription was acknowledged, or events may have been missed: read the current state. */
  | { readonly type: 'resync' };

export interface Subscription {
  /** Stops delivery at once; idempotent. */
  unsubscribe(): void;
}

/**
 * Carries one family of events between pods, by topic. While connected, each event is delivered at most once, and in
 * order within its topic. When events may have been missed, a `resync` follows. Each family has an instance with its
 * own event type; instances may share channels and then deliver only what is of their type.
 */
export interface EventBus<T> {
  /** Delivers to every current subscriber of the topic, on this pod and others. */
  publish(topic: Topic, event: T): Promise<void>;
  /**
   * Subscribes a listener. It gets `resync` when the subscription is acknowledged, and soon after every reconnect: a read
   * made then misses nothing. It is never called before this call returns.
   */
  subscribe(topic: Topic, listener: (signal: BusSignal<T>) => void): Subscription;
}

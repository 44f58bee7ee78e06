import type { Owner } from '@parley/core/domain/ids';

/** The subject of a channel: one stream request of an owner, or the owner's inbox. */
export interface Topic extends Owner {
  /** Absent for the owner's inbox. */
  readonly streamRequestId?: string;
}

export type BusSignal<T> =
  | { readonly type: 'event'; readonly event: T }
  /** The subscription was acknowledged, or events may have been missed. The listener must read the current state. */
  | { readonly type: 'resync' };

export interface Subscription {
  /** Stops delivery at once. Idempotent. */
  unsubscribe(): void;
}

/**
 * Carries one kind of event between pods, by topic. While connected, each event is delivered at most once, and in order within
 * its topic. When events may have been missed, a `resync` follows. Each kind has its own instance and event type; instances may
 * share channels and deliver only events of their own type.
 */
export interface EventBus<T> {
  /** Delivers to every current subscriber of the topic, on this pod and others. */
  publish(topic: Topic, event: T): Promise<void>;
  /**
   * Subscribes a listener. It gets `resync` when the subscription is acknowledged, and soon after every reconnect; a read at
   * that moment misses nothing. The listener is never called before `subscribe` returns.
   */
  subscribe(topic: Topic, listener: (signal: BusSignal<T>) => void): Subscription;
}

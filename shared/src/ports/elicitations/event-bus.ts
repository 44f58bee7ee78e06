import type { Owner } from '../../domain/ids.ts';

/** What a channel carries events about: one stream request of an owner, or the owner as a whole. */
export interface Topic extends Owner {
  /** Absent for a topic that is about the owner as a whole (the inbox). */
  readonly streamRequestId?: string;
}

export type BusSignal<T> =
  | { readonly type: 'event'; readonly event: T }
  /** The subscription was (again) acknowledged, or events may have been missed: read the truth now. */
  | { readonly type: 'resync' };

export interface Subscription {
  /** Stops delivery at once; idempotent. */
  unsubscribe(): void;
}

/**
 * Carries one family of events between pods, keyed by stream request. Delivery is at most once and in order per
 * topic while connected; whatever could have been missed is announced by a `resync`. Each family (elicitation
 * wakes, tool approvals, …) has an instance of its own type and channel prefix.
 */
export interface EventBus<T> {
  /** Delivers to every current subscriber of the topic, on this pod and others. */
  publish(topic: Topic, event: T): Promise<void>;
  /**
   * Subscribes a listener. It hears `resync` as soon as the subscription is acknowledged, so that a read made then
   * misses nothing, and again after every reconnect; never before this call returns.
   */
  subscribe(topic: Topic, listener: (signal: BusSignal<T>) => void): Subscription;
}

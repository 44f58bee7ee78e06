import type { StreamRef } from '@parley/core/domain/ids';

/** The delivery kinds that can follow a turn. Every commit of a turn declares the outbox keys of all of them. */
export const SUBSCRIBING_KINDS = ['a2a-push', 'slack'] as const;
export type SubscribingKind = (typeof SUBSCRIBING_KINDS)[number];

/**
 * Which delivery kinds follow a turn. While a kind is subscribed, each commit of a question on the turn's stream request
 * (asked, opened, ended) notes the task `<kind> <elicitation id>`, and the end of the turn notes `<kind>
 * <stream path>` (`formatStreamPath`). The commits read the subscriptions, so a new one takes effect at once, on any
 * pod. Only turns, whose stream requests Parley mints, have subscriptions. Every method throws `unavailable`.
 */
export interface Subscriptions {
  /**
   * Subscribes a kind for at least `keepMs`. Earlier commits note nothing for it, so the caller then reads the state of the
   * turn. Throws `user_erased`.
   */
  add(stream: StreamRef, kind: SubscribingKind, keepMs: number): Promise<void>;
  remove(stream: StreamRef, kind: SubscribingKind): Promise<void>;
  /** The kinds that follow the turn. */
  of(stream: StreamRef): Promise<readonly string[]>;
}

import type { StreamRef } from '@parley/core/domain/ids';

/** The delivery kinds that can follow a turn. The commits of a turn declare the outboxes of all of them. */
export const SUBSCRIBING_KINDS = ['a2a-push', 'slack'] as const;
export type SubscribingKind = (typeof SUBSCRIBING_KINDS)[number];

/**
 * Which delivery kinds follow a turn. While a kind is subscribed, each commit of a question on the turn's stream request
 * (asked, opened, ended) notes the task `<kind> <elicitation id>`, and the end of the turn notes `<kind> <stream path>`
 * (`formatStreamPath`). The commit itself reads the subscriptions, so that one which was added on any pod counts from then
 * on. They exist for stream requests of turns only: those that Parley minted. Every call throws `unavailable`.
 */
export interface Subscriptions {
  /**
   * Subscribes a kind for `keepMs` at least. What was committed before notes nothing: the caller reads the turn's state
   * afterwards. Throws `user_erased`.
   */
  add(stream: StreamRef, kind: SubscribingKind, keepMs: number): Promise<void>;
  remove(stream: StreamRef, kind: SubscribingKind): Promise<void>;
  /** The kinds that follow a turn. */
  of(stream: StreamRef): Promise<readonly string[]>;
}

/**
 * The facts from which `why` explains a record or a turn, as plain values, so that the explanation is pure. How the facts are
 * collected is the caller's business; their wording is in the `strings` files.
 */

import type { WebhookFault } from '../webhooks/webhook.ts';

/** The facts about a question or an approval. Times are in ms on the store's clock. */
export interface RecordFacts {
  readonly kind: 'question' | 'approval';
  /** The id of the person who is asked. */
  readonly name: string;
  readonly status: string;
  /** True in a terminal status. */
  readonly hasEnded: boolean;
  readonly trigger: string;
  /** The tool that the record concerns. */
  readonly tool?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly settledAt?: number | undefined;
  /** The surface on which it was settled. */
  readonly surface?: string | undefined;
  /** The reason of a withdrawal. */
  readonly reason?: string | undefined;
}

/** Something for which a turn waits. */
export interface WaitFacts {
  readonly id: string;
  readonly trigger: string;
  readonly since: number;
  /** The deadline of an open record; absent when the record has ended or no longer exists. */
  readonly openUntil?: number | undefined;
}

/** Who holds a turn now. */
export type HolderFacts =
  | { readonly type: 'pod'; readonly pod: string; readonly isAlive: boolean }
  | { readonly type: 'queued' }
  | { readonly type: 'detached'; readonly restsUntil?: number | undefined };

/** The facts about an agent's turn. */
export interface RunFacts {
  readonly streamRequestId: string;
  readonly agent: string;
  readonly status: 'running' | 'finished' | 'failed' | 'stopped';
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly holder: HolderFacts;
  readonly isStopping: boolean;
  /** The number of its pods that have died. */
  readonly takeOvers: number;
  /** The waits that are open according to the run's record. */
  readonly waits: readonly WaitFacts[];
  /** Calls that were sent and have not returned. */
  readonly calls: readonly {
    readonly toolName: string;
    readonly since: number;
    readonly delegate?: string | undefined;
  }[];
  /** The turn for which this one works. */
  readonly parent?: string | undefined;
}

/** The facts about how a person can be reached. */
export interface PersonFacts {
  readonly name: string;
  /** The stream requests of the person's open event streams, on all live pods. */
  readonly streams: readonly string[];
  /** How a channel notifies the person of this record; absent when no channel shall. */
  readonly channel?:
    | {
        readonly name: string;
        /** Whether the person is linked to the channel; absent when this deployment has no such channel. */
        readonly isLinked?: boolean | undefined;
        /** The earliest time of a notice about an open record, in ms from now. */
        readonly dueInMs?: number | undefined;
      }
    | undefined;
}

/** An outstanding delivery. */
export type DeliveryFacts =
  | {
      readonly kind: string;
      readonly state: 'outstanding';
      readonly dueInMs: number;
      readonly attempts: number;
      readonly isLeased: boolean;
    }
  | {
      readonly kind: string;
      readonly state: 'dead';
      readonly attempts: number;
      readonly lastError: WebhookFault;
      readonly lastStatus?: number | undefined;
      readonly diedAt: number;
    };

/** All facts that `why` needs. */
export interface WhyFacts {
  readonly now: number;
  /** Absent when the question is about a turn. */
  readonly record?: RecordFacts | undefined;
  /** Absent when no turn asked, or the turn no longer exists. */
  readonly run?: RunFacts | undefined;
  /** Absent for turns of a service key without a person. */
  readonly person?: PersonFacts | undefined;
  readonly deliveries: readonly DeliveryFacts[];
}

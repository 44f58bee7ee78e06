import type { WebhookFault } from '../webhooks/webhook.ts';

/** A question or an approval, as far as it explains itself. Times are ms on the store's clock. */
export interface RecordFacts {
  readonly kind: 'question' | 'approval';
  /** The id of the person whom it asks. */
  readonly name: string;
  readonly status: string;
  /** A status from which nothing moves the record any more. */
  readonly hasEnded: boolean;
  readonly trigger: string;
  /** The tool that it is about. */
  readonly tool?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly settledAt?: number | undefined;
  /** The surface on which it was settled. */
  readonly surface?: string | undefined;
  /** Why its asker took it back. */
  readonly reason?: string | undefined;
}

/** Something that a turn waits for. */
export interface WaitFacts {
  readonly id: string;
  readonly trigger: string;
  readonly since: number;
  /** The deadline of a record that is still open; absent where it has ended, or is gone. */
  readonly openUntil?: number | undefined;
}

/** Who has a turn now. */
export type HolderFacts =
  | { readonly type: 'pod'; readonly pod: string; readonly isAlive: boolean }
  | { readonly type: 'queued' }
  | { readonly type: 'detached'; readonly restsUntil?: number | undefined };

/** A turn of an agent. */
export interface RunFacts {
  readonly streamRequestId: string;
  readonly agent: string;
  readonly status: 'running' | 'finished' | 'failed' | 'stopped';
  readonly startedAt: number;
  readonly endedAt?: number | undefined;
  readonly holder: HolderFacts;
  readonly isStopping: boolean;
  /** How many of its pods have died. */
  readonly takeOvers: number;
  /** Waits that its record has as open. */
  readonly waits: readonly WaitFacts[];
  /** Calls that were sent and have not returned. */
  readonly calls: readonly {
    readonly toolName: string;
    readonly since: number;
    readonly delegate?: string | undefined;
  }[];
  /** The turn that it works for. */
  readonly parent?: string | undefined;
}

/** Where the person can be. */
export interface PersonFacts {
  readonly name: string;
  /** The stream requests that their open event streams read, over all pods that are alive. */
  readonly streams: readonly string[];
  /** How a channel notifies them of this record; absent where none is to. */
  readonly channel?:
    | {
        readonly name: string;
        /** Absent where this deployment has no such channel. */
        readonly isLinked?: boolean | undefined;
        /** In how many ms at the earliest, of an open record. */
        readonly dueInMs?: number | undefined;
      }
    | undefined;
}

/** One thing that must leave Parley. */
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

/** All that `why` looks at. */
export interface WhyFacts {
  readonly now: number;
  /** Absent where it is asked about a turn. */
  readonly record?: RecordFacts | undefined;
  /** Absent where no turn asked, or the turn is gone. */
  readonly run?: RunFacts | undefined;
  /** Absent for turns of a service key, which have no person. */
  readonly person?: PersonFacts | undefined;
  readonly deliveries: readonly DeliveryFacts[];
}

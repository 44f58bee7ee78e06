import type { KeyObject } from 'node:crypto';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import type { Authenticate } from '../../http/auth.ts';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import type { Turns } from '../../turns/turns.ts';
import type { PushConfigs } from './push.ts';

/** Signs cards with a key on P-256 (ES256). */
export interface CardSigner {
  readonly privateKey: KeyObject;
}

/** An agent that A2A clients may call. */
export interface OfferedAgent {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** True: its model takes images, and its card says so. */
  readonly takesImages?: boolean;
  /** Who may answer its questions through A2A. */
  readonly answers: 'user' | 'caller';
}

export interface A2aDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Turns;
  /** Which messages were taken as answers. */
  readonly records: OwnerRecords;
  /** The first one is the agent of the card at the well-known place. */
  readonly agents: readonly OfferedAgent[];
  /** Version of this service, for the cards. */
  readonly version: string;
  /** Verifies tokens for this surface. */
  readonly authenticate: Authenticate;
  /** The origin at which clients reach the pods; derived from the request when absent. */
  readonly origin?: string;
  /** Signs the cards. */
  readonly signer?: CardSigner;
  /** Push notifications; absent where they cannot be kept. */
  readonly push?: PushConfigs;
  /** How many deployments may have delegated a task, one to the next. */
  readonly hopsMax: number;
  /** How long a message is recognized when it is sent again, in ms. */
  readonly answerMs: number;
  /** How long a call that waits for a task waits at most, in ms. It then replies with the task as it is. */
  readonly waitMs: number;
  readonly onFault: (error: unknown) => void;
}

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
  /** True if the agent's model accepts images, which its card then declares. */
  readonly takesImages?: boolean;
  /** Who may answer the agent's questions through A2A. */
  readonly answers: 'user' | 'caller';
}

export interface A2aDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Turns;
  /** Records of messages that were accepted as answers. */
  readonly records: OwnerRecords;
  /** The agents. The first one's card is at the well-known address. */
  readonly agents: readonly OfferedAgent[];
  /** Version of this service, which cards contain. */
  readonly version: string;
  /** Verifies tokens for this surface. */
  readonly authenticate: Authenticate;
  /** The origin under which clients reach the pods; by default, it is taken from the request. */
  readonly origin?: string;
  /** Signs the cards. */
  readonly signer?: CardSigner;
  /** Push notifications; absent if their configurations cannot be stored. */
  readonly push?: PushConfigs;
  /** How many deployments in a row may have delegated a task. */
  readonly hopsMax: number;
  /** How long a repeated message is recognized, in ms. */
  readonly answerMs: number;
  /** The maximum wait of a call for a task, in ms. After that it replies with the current state of the task. */
  readonly waitMs: number;
  readonly onFault: (error: unknown) => void;
}

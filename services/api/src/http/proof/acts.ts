import type { Caller } from '@parley/shared/domain/caller';

/** What an operator did, for the log. */
export interface OperatorAct {
  readonly act: 'withdraw' | 'extend' | 'stop' | 'resume' | 'redeliver' | 'link' | 'revoke_link' | 'erase';
  /** The record, the stream request of the turn, or the erased person. */
  readonly subject: string;
  readonly reason?: string;
  /** How much later a deadline is. */
  readonly seconds?: number;
}

/** Notes an act. `caller` is the service key or the signed-in operator that asked for it. */
export type OnAct = (act: OperatorAct, caller: Caller) => void;

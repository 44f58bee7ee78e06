import type { Caller } from '@parley/shared/domain/caller';

/** An act of an operator, for the log. */
export interface OperatorAct {
  readonly act: 'withdraw' | 'extend' | 'stop' | 'resume' | 'redeliver' | 'link' | 'revoke_link' | 'erase';
  /** The id of the record, the stream request of the turn, or the erased person. */
  readonly subject: string;
  readonly reason?: string;
  /** By how many seconds a deadline was extended. */
  readonly seconds?: number;
}

/** Reports an act. `caller` is the service key or the signed-in operator who requested it. */
export type OnAct = (act: OperatorAct, caller: Caller) => void;

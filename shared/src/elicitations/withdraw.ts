import { type Caller, keyIdOf, readFor, type Seen } from './caller.ts';
import type { EngineDeps } from './deps.ts';
import { settle } from './settle.ts';

export interface WithdrawRequest {
  readonly caller: Caller;
  readonly id: string;
  /** A short word such as `run_stopped`, `superseded` or `undeliverable`. */
  readonly reason: string;
}

/** Takes a question back. Withdrawing it again changes nothing; a settled one is `already_settled`. */
export async function withdraw(deps: EngineDeps, { caller, id, reason }: WithdrawRequest): Promise<Seen> {
  return settle(deps, caller, await readFor(deps, caller, id), {
    type: 'withdraw',
    reason,
    key: keyIdOf(caller),
  });
}

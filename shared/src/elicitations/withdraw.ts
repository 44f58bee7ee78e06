import { type Caller, keyIdOf, maySee, notFound, readFor, type Seen } from './caller.ts';
import type { EngineDeps } from './deps.ts';
import { settle } from './settle.ts';

export interface WithdrawRequest {
  readonly caller: Caller;
  readonly id: string;
  /** A short word such as `run_stopped`, `superseded` or `undeliverable`. */
  readonly reason: string;
  /** The row, where the caller has read it already; it may have changed since. */
  readonly seen?: Seen;
}

/** Takes a question back. Withdrawing it again changes nothing; a settled one is `already_settled`. */
export async function withdraw(
  deps: EngineDeps,
  { caller, id, reason, seen }: WithdrawRequest,
): Promise<Seen> {
  if (seen !== undefined && !maySee(caller, seen.row)) throw notFound();
  return settle(deps, caller, seen ?? (await readFor(deps, caller, id)), {
    type: 'withdraw',
    reason,
    key: keyIdOf(caller),
  });
}

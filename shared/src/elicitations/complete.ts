import { type Caller, keyIdOf, type Seen } from '../domain/caller.ts';
import type { ElicitationTypes } from '../domain/elicitations/types.ts';
import type { RecordDeps } from '../records/family-deps.ts';
import { readUnlessKnown } from '../records/read.ts';
import { settle } from '../records/settle.ts';

export interface CompleteInput {
  readonly caller: Caller;
  readonly id: string;
  readonly surface: string;
}

/** Finishes a url elicitation with server completion. Throws `invalid_request` for any other kind. */
export async function complete(
  deps: RecordDeps<ElicitationTypes>,
  { caller, id, surface }: CompleteInput,
): Promise<Seen> {
  return settle(deps, { caller }, await readUnlessKnown(deps, caller, id), {
    type: 'complete',
    surface,
    key: keyIdOf(caller),
  });
}

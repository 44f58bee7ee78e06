import { type Caller, keyIdOf, readFor, type Seen } from './caller.ts';
import type { EngineDeps } from './deps.ts';
import { settle } from './settle.ts';

export interface CompleteInput {
  readonly caller: Caller;
  readonly id: string;
  readonly surface: string;
}

/** Finishes a url elicitation with server completion; `invalid_request` for any other kind. */
export async function complete(deps: EngineDeps, { caller, id, surface }: CompleteInput): Promise<Seen> {
  return settle(deps, caller, await readFor(deps, caller, id), {
    type: 'complete',
    surface,
    key: keyIdOf(caller),
  });
}

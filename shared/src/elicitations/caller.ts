import type { Row } from '../domain/elicitations/row.ts';
import { ParleyError } from '../domain/errors.ts';
import { bucketOfElicitationId, type Owner } from '../domain/ids.ts';
import type { Scope } from '../domain/service-key.ts';
import type { EngineDeps } from './deps.ts';

/**
 * Who calls, as a verified token says. A service acts for its tenant and is no user. `keyId` names its key without
 * revealing it. Key and scopes are absent where Parley itself acts.
 */
export type Caller =
  | {
      readonly kind: 'service';
      readonly tenant: string;
      readonly keyId?: string;
      readonly scopes?: readonly Scope[];
    }
  | ({ readonly kind: 'user' } & Owner);

/** The name of a caller's service key. */
export function keyIdOf(caller: Caller): string | undefined {
  return caller.kind === 'service' ? caller.keyId : undefined;
}

/** A row the caller may see, and the clock. */
export interface Seen {
  readonly row: Row;
  readonly now: number;
}

/** True when the row is the caller's own question, or the caller is a service of its tenant. */
export function maySee(caller: Caller, row: Row): boolean {
  if (row.definition.tenant !== caller.tenant) return false;
  return caller.kind === 'service' || caller.userId === row.definition.userId;
}

/** Reads an elicitation for a caller. Missing, malformed and foreign ids are all the same `not_found`. */
export async function readFor(deps: EngineDeps, caller: Caller, id: string): Promise<Seen> {
  if (bucketOfElicitationId(id) === undefined) throw notFound();
  const { row, now } = await deps.elicitations.read(id);
  if (row === undefined || !maySee(caller, row)) throw notFound();
  return { row, now };
}

/** The same error for what does not exist and for what belongs to someone else. */
export function notFound(): ParleyError {
  return new ParleyError('not_found', 'There is nothing here, or it is not yours.');
}

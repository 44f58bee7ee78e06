import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import type { Row } from './elicitations/row.ts';
import type { Scope } from './service-key.ts';

/**
 * The caller, as verified from the token. A service acts for its tenant and is no user. `keyId` names its key without revealing
 * it. Key and scopes are absent when Parley itself acts.
 */
export type Caller =
  | {
      readonly kind: 'service';
      readonly tenant: string;
      readonly keyId?: string;
      /** The configured name of the key; absent for an unnamed key, whose `keyId` is a part of a hash. */
      readonly keyName?: string;
      readonly scopes?: readonly Scope[];
      /** The user id of a person who signed in to the console and acts for the tenant; absent for a key. */
      readonly operator?: string;
    }
  | ({ readonly kind: 'user' } & Owner);

/** The name of a caller's service key. */
export function keyIdOf(caller: Caller): string | undefined {
  return caller.kind === 'service' ? caller.keyId : undefined;
}

/** The caller of an operator who signed in to the console. Its `keyId` has a prefix that no key name can have. */
export function operatorCaller(tenant: string, operator: string, scopes: readonly Scope[]): Caller {
  return { kind: 'service', tenant, keyId: `operator:${operator}`, scopes, operator };
}

/** The user id of an operator who signed in to the console; undefined for every other caller. */
export function operatorOf(caller: Caller): string | undefined {
  return caller.kind === 'service' ? caller.operator : undefined;
}

/** The readable name of a caller's service key; undefined for an unnamed key. */
export function keyNameOf(caller: Caller): string | undefined {
  return caller.kind === 'service' ? caller.keyName : undefined;
}

/** An elicitation that the caller may see, and the Redis clock. */
export interface Seen {
  readonly row: Row;
  readonly now: number;
}

/** True when the row belongs to the caller, or the caller is a service of the row's tenant. */
export function maySee(caller: Caller, row: { readonly definition: Owner }): boolean {
  if (row.definition.tenant !== caller.tenant) return false;
  return caller.kind === 'service' || caller.userId === row.definition.userId;
}

/** One error for what does not exist and for what belongs to somebody else, so that callers cannot tell them apart. */
export function notFound(): ParleyError {
  return new ParleyError('not_found', 'There is nothing here, or it is not yours.');
}

/** What a call resolves to; undefined where it rejects with `not_found`. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isParleyError(error, 'not_found')) return undefined;
    throw error;
  }
}

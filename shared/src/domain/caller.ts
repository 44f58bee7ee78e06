import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import type { Row } from './elicitations/row.ts';
import type { Scope } from './service-key.ts';

/**
 * Who calls, as a verified token says. A service acts for its tenant and is no user. `keyId` names its key without
 * revealing it. Key and scopes are absent where Parley itself acts.
 */
export type Caller =
  | {
      readonly kind: 'service';
      readonly tenant: string;
      readonly keyId?: string;
      /** The name that the deployment gave the key; absent for a key without one, whose `keyId` is a part of a hash. */
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

/** An operator who signed in to the console. The id of their calls begins in a way in which no name of a key can begin. */
export function operatorCaller(tenant: string, operator: string, scopes: readonly Scope[]): Caller {
  return { kind: 'service', tenant, keyId: `operator:${operator}`, scopes, operator };
}

/** The user id of an operator who signed in to the console; undefined for every other caller. */
export function operatorOf(caller: Caller): string | undefined {
  return caller.kind === 'service' ? caller.operator : undefined;
}

/** The name of a caller's service key for people; undefined for a key without a name. */
export function keyNameOf(caller: Caller): string | undefined {
  return caller.kind === 'service' ? caller.keyName : undefined;
}

/** An elicitation the caller may see, and the clock. */
export interface Seen {
  readonly row: Row;
  readonly now: number;
}

/** True when the row is the caller's own, or the caller is a service of its tenant. */
export function maySee(caller: Caller, row: { readonly definition: Owner }): boolean {
  if (row.definition.tenant !== caller.tenant) return false;
  return caller.kind === 'service' || caller.userId === row.definition.userId;
}

/** The same error for what does not exist and for what belongs to someone else. */
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

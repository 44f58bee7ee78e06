import { ParleyError } from '@parley/shared/domain/errors';
import type { Owner } from '@parley/shared/domain/ids';
import { faultOfUserId } from '@parley/shared/domain/text';
import type { Caller } from '@parley/shared/elicitations/caller';
import type { RouteCall } from '../../http/route.ts';

/** The header by which a service key names the person for whom it speaks. Its value is percent-encoded. */
export const USER_HEADER = 'parley-user';

/** Who calls, and for whom. */
export interface A2aCaller {
  readonly caller: Caller;
  /** The person whose tasks these are. */
  readonly owner: Owner;
}

/** The person for whom a call is made: the user of the token, or the one that a service key names. Throws `forbidden`. */
export function a2aCallerOf({ caller, header }: Pick<RouteCall, 'caller' | 'header'>): A2aCaller {
  const { tenant } = caller;
  if (caller.kind === 'user') return { caller, owner: { tenant, userId: caller.userId } };
  const userId = decoded(header(USER_HEADER));
  if (userId !== undefined && faultOfUserId(userId) === undefined)
    return { caller, owner: { tenant, userId } };
  throw new ParleyError(
    'forbidden',
    `A service key speaks for a person here: name them in the header ${USER_HEADER}, percent-encoded.`,
  );
}

/** Undefined where the encoding is not well formed. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

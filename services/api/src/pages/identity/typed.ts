import { faultOfUserId } from '@parley/core/domain/text';
import type { TypedIdentity } from './identity.ts';

/** Accepts a typed user id without proof. For development only: the check of the environment forbids it in production. */
export function createTypedIdentity(tenant: string): TypedIdentity {
  return {
    type: 'typed',
    person(typed) {
      const userId = typed.trim();
      const fault = userId === '' ? 'is empty' : faultOfUserId(userId);
      return fault === undefined ? { tenant, userId, name: userId } : undefined;
    },
  };
}

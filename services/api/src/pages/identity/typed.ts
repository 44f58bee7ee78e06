import { faultOfUserId } from '@parley/core/domain/text';
import type { TypedIdentity } from './identity.ts';

/** Believes the user id that is typed. For development only: in production the environment check refuses it. */
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

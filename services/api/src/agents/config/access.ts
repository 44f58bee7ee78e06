import { faultOfUserId } from '@parley/core/domain/text';
import type { Caller } from '@parley/shared/domain/caller';
import { z } from 'zod';

const names = (about: string) => z.array(z.string().min(1)).min(1, 'names nobody').optional().describe(about);

/** Who may begin turns with an agent. */
export const AgentAccess = z
  .strictObject({
    callers: z
      .array(z.enum(['user', 'service']))
      .optional()
      .describe(
        'Callers that may begin turns with the agent: `user`, `service`. `[]`: only other agents. Absent: users where `users` is given, service keys where `keys` is given, and both where neither is.',
      ),
    tenants: names('Tenants whose callers may do so. Absent: all.'),
    users: z
      .array(z.string().refine((id) => faultOfUserId(id) === undefined, 'is no user id'))
      .min(1, 'names nobody')
      .optional()
      .describe('Ids of the users who may do so. Absent: all.'),
    keys: names('Names of the service keys that may do so. Absent: all.'),
  })
  .describe(
    'Who may begin turns with the agent. Absent: every caller; but for an agent that is a delegate and not the default agent, only other agents.',
  );
export type AgentAccess = z.infer<typeof AgentAccess>;

/** True when the caller may begin turns with an agent that has this access. */
export function admits({ callers, tenants, users, keys }: AgentAccess, caller: Caller): boolean {
  const isNamedKind = caller.kind === 'user' ? users !== undefined : keys !== undefined;
  const isOfKind = callers?.includes(caller.kind) ?? (isNamedKind || (users ?? keys) === undefined);
  if (!isOfKind || tenants?.includes(caller.tenant) === false) return false;
  return caller.kind === 'user'
    ? users?.includes(caller.userId) !== false
    : keys?.includes(caller.keyId ?? '') !== false;
}

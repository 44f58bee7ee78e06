import { ParleyError } from '@parley/core/domain/errors';
import type { Vault } from '@parley/shared/vault/vault';
import { z } from 'zod';
import { type DisconnectDeps, disconnect } from '../../accounts/disconnect.ts';
import { Account, type ListedAccountsDeps, listAccounts } from '../../accounts/listed-accounts.ts';
import { userOf } from '../../http/reply.ts';
import { bearer, json, type Route, route, type Surface } from '../../http/route.ts';

interface AccountsDeps extends DisconnectDeps, ListedAccountsDeps {
  readonly vault: Pick<Vault, 'read' | 'remove' | 'save'>;
}

const Accounts = z.object({ accounts: z.array(Account) }).meta({ id: 'Accounts' });

const Disconnected = z
  .object({
    toolId: z.string(),
    revoked: z
      .enum(['revoked', 'unsupported', 'unavailable'])
      .optional()
      .describe(
        'What the provider did with the credential. Absent when none was stored. `unavailable`: it could not be reached; revoke the access there.',
      ),
  })
  .meta({ id: 'Disconnected' });

/** The calls for a person's connected accounts: the list, and the disconnection of one account. */
export function accountRoutes(deps: AccountsDeps): Surface {
  return { routes: [listRoute(deps), disconnectRoute(deps)] };
}

function listRoute(deps: AccountsDeps): Route {
  return route({
    method: 'GET',
    path: '/v1/accounts',
    proof: bearer('user'),
    docs: {
      group: 'Accounts',
      summary: 'List the services that you can connect, and which are connected',
      example: {
        reply: {
          accounts: [
            {
              toolId: 'tracker',
              service: 'Issue tracker',
              state: 'connected',
              connectedAt: '2026-01-15T09:30:00.000Z',
            },
            { toolId: 'calendar', service: 'Calendar', state: 'not_connected' },
          ],
        },
      },
      replies: { 200: { description: 'Every service of the configuration', schema: Accounts } },
    },
    async handle({ caller, admitted }) {
      const owner = userOf(caller);
      await admitted;
      return json(200, { accounts: await listAccounts(deps, owner) });
    },
  });
}

function disconnectRoute(deps: AccountsDeps): Route {
  const { targets } = deps;
  return route({
    method: 'DELETE',
    path: '/v1/accounts/:toolId',
    proof: bearer('user'),
    docs: {
      group: 'Accounts',
      summary: 'Disconnect an account',
      description:
        'Deletes the stored credential and revokes it at the provider where that is possible. The next call that needs the account asks for it again, also where the company sign-in had connected it.',
      example: { reply: { toolId: 'tracker', revoked: 'revoked' } },
      replies: { 200: { description: 'Nothing is stored any more', schema: Disconnected } },
      errors: ['not_found'],
    },
    async handle({ caller, params, head, admitted }) {
      const owner = userOf(caller);
      await admitted;
      const target = targets.credentials().find(({ toolId }) => toolId === params.toolId);
      if (target === undefined) throw new ParleyError('not_found', 'There is no such service to connect.');
      const revoked = await disconnect(deps, owner, target, head.requestId);
      return json(200, { toolId: target.toolId, ...(revoked !== undefined && { revoked }) });
    },
  });
}

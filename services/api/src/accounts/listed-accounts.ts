import type { Owner } from '@parley/core/domain/ids';
import type { Vault } from '@parley/shared/vault/vault';
import { z } from 'zod';
import { readAccount } from './account-state.ts';
import type { AccountTargets, CredentialTarget } from './targets.ts';

/** An account as its person and operators see it: names and states, without secrets. */
export const Account = z
  .object({
    toolId: z.string(),
    service: z.string().describe('Title of the service, for people.'),
    state: z
      .enum(['connected', 'reconnect_required', 'not_connected'])
      .describe('`reconnect_required`: the service refuses the credential; the next call asks again.'),
    managed: z
      .literal(true)
      .optional()
      .describe("Present where the person's company sign-in connected the account."),
    connectedAt: z.iso.datetime().optional().describe('When the credential was stored or last refreshed.'),
  })
  .meta({ id: 'Account', description: 'An account of a person at a service that agents may use for them.' });
export type Account = z.infer<typeof Account>;

export interface ListedAccountsDeps {
  readonly targets: Pick<AccountTargets, 'credentials'>;
  readonly vault: Pick<Vault, 'read'>;
}

/** Every service that a person can connect, and which are connected. Throws `unavailable`. */
export function listAccounts({ targets, vault }: ListedAccountsDeps, owner: Owner): Promise<Account[]> {
  return Promise.all(targets.credentials().map((one) => accountOf(vault, owner, one)));
}

async function accountOf(
  vault: Pick<Vault, 'read'>,
  owner: Owner,
  target: CredentialTarget,
): Promise<Account> {
  const { toolId, service } = target;
  const stored = await readAccount(vault, owner, target);
  if (stored === undefined) return { toolId, service, state: 'not_connected' };
  const { state, savedAt, managed } = stored;
  const account = { toolId, service, state, ...(managed !== undefined && { managed }) };
  if (savedAt === undefined) return account;
  return { ...account, connectedAt: new Date(savedAt).toISOString() };
}

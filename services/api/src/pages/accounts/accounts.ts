import type { Owner } from '@parley/core/domain/ids';
import { readAccount } from '../../accounts/account-state.ts';
import { disconnect } from '../../accounts/disconnect.ts';
import { ACCOUNTS_PAGE, ACCOUNTS_PATH } from '../../accounts/own-pages.ts';
import type { CredentialTarget } from '../../accounts/targets.ts';
import { readForm } from '../serving/form.ts';
import { admitPerson, signOutOf } from '../serving/of-person.ts';
import type { Parts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, type Visit } from '../serving/visit.ts';
import type { ShownAccount } from '../views/view.ts';

/** `GET /auth/accounts`: the accounts that the signed-in person has connected. */
export async function showAccounts(parts: Parts, visit: Visit): Promise<PageReply> {
  const admitted = await admitPerson(parts, visit, ACCOUNTS_PAGE);
  if ('view' in admitted) return page(admitted.view);
  const { person, owner } = admitted;
  await parts.callLimits.call({ kind: 'user', ...owner }, false);
  return page({
    page: 'accounts',
    person: person.name,
    accounts: await readAccounts(parts, owner),
    signOut: buildFormTarget(visit.browser, `${ACCOUNTS_PATH}/sign-out`),
  });
}

/** The accounts of a person, with the ways to disconnect them. */
export async function readAccounts(
  { targets, vault }: Pick<Parts, 'targets' | 'vault'>,
  owner: Owner,
): Promise<readonly ShownAccount[]> {
  const found = await Promise.all(
    targets.credentials().map(async (target) => {
      const account = await readAccount(vault, owner, target);
      const { service, toolId } = target;
      return account && { ...account, service, disconnect: disconnectPath(toolId) };
    }),
  );
  return found.filter((account) => account !== undefined);
}

/** `GET /auth/accounts/:id/disconnect`: asks the person for confirmation. Changes nothing. */
export async function confirmDisconnect(parts: Parts, visit: Visit): Promise<PageReply> {
  const admitted = await admitPerson(parts, visit, ACCOUNTS_PAGE);
  if ('view' in admitted) return page(admitted.view);
  await parts.callLimits.call({ kind: 'user', ...admitted.owner }, false);
  const target = findTarget(parts, visit);
  if (target === undefined) return page({ page: 'not-found' });
  const { service, toolId } = target;
  if ((await readAccount(parts.vault, admitted.person, target)) === undefined)
    return page({ page: 'disconnected', service });
  return page({
    page: 'disconnect',
    service,
    person: admitted.person.name,
    proceed: buildFormTarget(visit.browser, disconnectPath(toolId)),
  });
}

/** `POST /auth/accounts/:id/disconnect`: deletes and revokes the credential. A repeated request changes nothing. */
export async function disconnectAccount(parts: Parts, visit: Visit): Promise<PageReply> {
  const form = await readForm(parts, visit, ACCOUNTS_PATH);
  if ('view' in form) return page(form.view);
  const admitted = await admitPerson(parts, visit, ACCOUNTS_PAGE);
  if ('view' in admitted) return page(admitted.view);
  await parts.callLimits.call({ kind: 'user', ...admitted.owner }, true);
  const target = findTarget(parts, visit);
  if (target === undefined) return page({ page: 'not-found' });
  const revoked = await disconnect(parts, admitted.person, target);
  return page({
    page: 'disconnected',
    service: target.service,
    ...(revoked !== undefined && { revoked }),
  });
}

/** `POST /auth/accounts/sign-out`: signs out, and shows the sign-in for another person. */
export function signOutOfAccounts(parts: Parts, visit: Visit): Promise<PageReply> {
  return signOutOf(parts, visit, ACCOUNTS_PAGE, ACCOUNTS_PATH);
}

function findTarget({ targets }: Parts, { param }: Visit): CredentialTarget | undefined {
  return targets.credentials().find(({ toolId }) => toolId === param);
}

function disconnectPath(toolId: string): string {
  return `${ACCOUNTS_PATH}/${toolId}/disconnect`;
}

import type { Owner } from '@parley/shared/domain/ids';
import { readAccount } from '../../accounts/account-state.ts';
import { disconnect } from '../../accounts/disconnect.ts';
import { ACCOUNTS_PAGE, ACCOUNTS_PATH } from '../../accounts/own-pages.ts';
import type { CredentialTarget } from '../../accounts/targets.ts';
import type { Person } from '../identity/identity.ts';
import { signInView } from '../serving/access.ts';
import { readForm } from '../serving/form.ts';
import type { Parts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, type Visit } from '../serving/visit.ts';
import type { PageView, ShownAccount } from '../views/view.ts';

/** `GET /auth/accounts`: the accounts that the signed-in person has connected. */
export async function showAccounts(parts: Parts, visit: Visit): Promise<PageReply> {
  const admitted = await admit(parts, visit);
  if ('view' in admitted) return page(admitted.view);
  const { person } = admitted;
  await parts.callLimits.call({ kind: 'user', ...ownerOf(person) }, false);
  return page({
    page: 'accounts',
    person: person.name,
    accounts: await readAccounts(parts, person),
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

/** `GET /auth/accounts/:id/disconnect`: asks the person to confirm. Changes nothing. */
export async function confirmDisconnect(parts: Parts, visit: Visit): Promise<PageReply> {
  const admitted = await admit(parts, visit);
  if ('view' in admitted) return page(admitted.view);
  await parts.callLimits.call({ kind: 'user', ...ownerOf(admitted.person) }, false);
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

/** `POST /auth/accounts/:id/disconnect`: deletes and revokes the credential. Sent again, it changes nothing. */
export async function disconnectAccount(parts: Parts, visit: Visit): Promise<PageReply> {
  const form = await readForm(parts, visit, ACCOUNTS_PATH);
  if ('view' in form) return page(form.view);
  const admitted = await admit(parts, visit);
  if ('view' in admitted) return page(admitted.view);
  await parts.callLimits.call({ kind: 'user', ...ownerOf(admitted.person) }, true);
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
export async function signOutOfAccounts(parts: Parts, visit: Visit): Promise<PageReply> {
  const form = await readForm(parts, visit, ACCOUNTS_PATH);
  if ('view' in form) return page(form.view);
  if (parts.identity.type === 'bound') return page({ page: 'accounts-elsewhere' });
  const id = await parts.sessions.signOut(visit.browser);
  return page(signInView(parts, { browser: { id } }, ACCOUNTS_PAGE, true), id);
}

/** The signed-in person; the page for everybody else. */
async function admit(
  parts: Parts,
  visit: Visit,
): Promise<{ readonly person: Person } | { readonly view: PageView }> {
  if (parts.identity.type === 'bound') return { view: { page: 'accounts-elsewhere' } };
  const person = await parts.sessions.person(visit.browser);
  return person === undefined ? { view: signInView(parts, visit, ACCOUNTS_PAGE) } : { person };
}

function findTarget({ targets }: Parts, { param }: Visit): CredentialTarget | undefined {
  return targets.credentials().find(({ toolId }) => toolId === param);
}

function disconnectPath(toolId: string): string {
  return `${ACCOUNTS_PATH}/${toolId}/disconnect`;
}

function ownerOf({ tenant, userId }: Person) {
  return { tenant, userId };
}

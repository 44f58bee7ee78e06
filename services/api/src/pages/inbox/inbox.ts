import { isParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { INBOX_PAGE, INBOX_PATH } from '../../accounts/own-pages.ts';
import { readAccounts } from '../accounts/accounts.ts';
import { readForm } from '../serving/form.ts';
import { admitPerson, signOutOf } from '../serving/of-person.ts';
import type { Parts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, type Visit } from '../serving/visit.ts';
import { signIn } from '../sign-in/sign-in.ts';
import type { ShownGrant } from '../views/inbox/view.ts';
import { readWaiting } from './waiting-items.ts';

/**
 * `GET /auth/inbox`: shows everything that waits for the signed-in person, the remembered approvals, and the accounts. Only
 * reads.
 */
export async function showInbox(parts: Parts, visit: Visit): Promise<PageReply> {
  const admitted = await admitPerson(parts, visit, INBOX_PAGE);
  if ('view' in admitted) return page(admitted.view);
  const { person, owner } = admitted;
  await parts.callLimits.call({ kind: 'user', ...owner }, false);
  const [waiting, remembered, accounts] = await Promise.all([
    readWaiting(parts, owner),
    readRemembered(parts, visit, owner),
    readAccounts(parts, owner),
  ]);
  return page({
    page: 'inbox',
    person: person.name,
    ...waiting,
    remembered,
    accounts,
    signOut: buildFormTarget(visit.browser, `${INBOX_PATH}/sign-out`),
  });
}

/** `POST /auth/inbox/sign-in`. */
export function signInToInbox(parts: Parts, visit: Visit): Promise<PageReply> {
  return signIn(parts, visit, INBOX_PAGE);
}

/** `POST /auth/inbox/sign-out`: signs out, and shows the sign-in for another person. */
export function signOutOfInbox(parts: Parts, visit: Visit): Promise<PageReply> {
  return signOutOf(parts, visit, INBOX_PAGE, INBOX_PATH);
}

/** `POST /auth/inbox/remembered/:id/forget`: further calls of this kind ask again. A repeated request changes nothing. */
export async function forget(parts: Parts, visit: Visit): Promise<PageReply> {
  const form = await readForm(parts, visit, INBOX_PATH);
  if ('view' in form) return page(form.view);
  const admitted = await admitPerson(parts, visit, INBOX_PAGE);
  if ('view' in admitted) return page(admitted.view);
  const { owner } = admitted;
  await parts.callLimits.call({ kind: 'user', ...owner }, true);
  try {
    await parts.engine.approvals.grants.revoke(owner, visit.param);
  } catch (error) {
    if (!isParleyError(error, 'not_found')) throw error;
  }
  return { type: 'moved', path: INBOX_PATH };
}

async function readRemembered(
  { engine }: Parts,
  { browser }: Visit,
  owner: Owner,
): Promise<readonly ShownGrant[]> {
  const grants = await engine.approvals.grants.list(owner);
  return grants.map(({ grantId, agent, server, serverTitle = server, tool, toolTitle = tool, ...grant }) => ({
    agent,
    server: serverTitle,
    tool: toolTitle,
    ...(grant.conversationId === undefined && { until: Date.parse(grant.expiresAt) }),
    forget: buildFormTarget(browser, `${INBOX_PATH}/remembered/${grantId}/forget`),
  }));
}

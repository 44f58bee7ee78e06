/** Decides who may see and answer what on hosted pages. Signing in is in `pages/sign-in`. */

import { isTerminal } from '@parley/core/domain/elicitations/status';
import { bucketOfElicitationId, isSameOwner, type Owner } from '@parley/core/domain/ids';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { hasBrought } from '../../accounts/flows/ending.ts';
import { isOfApproval, isOnOurPage, type OwnPage, pathOf } from '../../accounts/own-pages.ts';
import type { AccountTarget } from '../../accounts/targets.ts';
import type { Person } from '../identity/identity.ts';
import type { PageView } from '../views/view.ts';
import type { Parts } from './parts.ts';
import { buildFormTarget, type Visit } from './visit.ts';

/** A user id that no real user has. */
const UNKNOWN_USER = '\u0000connect';

/** A question on Parley's page, and the account that it asks to connect. */
interface RequestedFlow {
  readonly row: Row;
  readonly target: AccountTarget;
  readonly owner: Owner;
}

/** Permission to act on a question. `person` is absent with session binding, because the backend reports the person later. */
export interface Admitted extends RequestedFlow {
  readonly type: 'admitted';
  readonly person?: Person;
}

interface Shown {
  readonly type: 'shown';
  readonly view: PageView;
  /** Present if a person other than the owner is signed in. */
  readonly mismatch?: true;
}

interface AdmitOptions {
  /** True to admit to questions that have ended, too. By default the page shows how the question ended. */
  readonly ended?: true;
}

/** Finds a question by its id, which is untrusted. Undefined for a question that is not asked on Parley's pages. */
export async function findAsked(
  parts: Parts,
  id: string,
): Promise<(RequestedFlow & { readonly now: number }) | undefined> {
  if (bucketOfElicitationId(id) === undefined) return undefined;
  const { row, now } = await parts.elicitations.read(id);
  if (row === undefined) return undefined;
  const { context, tenant, userId } = row.definition;
  const target = isOnOurPage(parts.publicUrl, row) ? parts.targets.find(context.toolId ?? '') : undefined;
  return target === undefined ? undefined : { row, now, target, owner: { tenant, userId } };
}

/** Finds a question for the answer page by its id, which is untrusted. */
export async function findAnswerable(
  parts: Pick<Parts, 'elicitations' | 'publicUrl'>,
  id: string,
): Promise<{ readonly row: Row; readonly now: number } | undefined> {
  if (bucketOfElicitationId(id) === undefined) return undefined;
  const { row, now } = await parts.elicitations.read(id);
  return row === undefined || isOnOurPage(parts.publicUrl, row) ? undefined : { row, now };
}

/** The owner of the question that a page is about; undefined if there is no such question. */
export async function findOwner(parts: Parts, page: OwnPage): Promise<Owner | undefined> {
  if (!('elicitationId' in page) || page.about === 'link') return undefined;
  if (page.about === 'connect') return (await findAsked(parts, page.elicitationId))?.owner;
  return (await findAnswerable(parts, page.elicitationId))?.row.definition;
}

/** Admits the owner of a question. Everybody else gets a page that reveals nothing of it. */
export async function admit(
  parts: Parts,
  visit: Visit,
  id: string,
  options: AdmitOptions = {},
): Promise<Admitted | Shown> {
  const asked = await findAsked(parts, id);
  if (asked === undefined) return { type: 'shown', view: { page: 'not-found' } };
  const { row, now, target, owner } = asked;
  const isOver = isTerminal(row.status) || now >= row.expiresAt;
  const own: OwnPage = { about: 'connect', elicitationId: id };
  const person = parts.identity.type === 'bound' ? undefined : await parts.sessions.person(visit.browser);
  if (parts.identity.type !== 'bound') {
    if (person === undefined)
      return { type: 'shown', view: isOver ? await endedView(parts, row) : signInView(parts, visit, own) };
    if (!isSameOwner(person, owner)) {
      parts.onEvent({ type: 'mismatch', elicitationId: id, tenant: owner.tenant });
      return { type: 'shown', view: mismatchView(visit.browser, own), mismatch: true };
    }
  }
  if (isOver && options.ended !== true) return { type: 'shown', view: await endedView(parts, row, target) };
  return { type: 'admitted', row, target, owner, ...(person !== undefined && { person }) };
}

/** Counts the call against the same budgets as an answer over /v1. Throws `rate_limited`. */
export async function spend(
  { callLimits, identity }: Parts,
  { row, owner }: Pick<RequestedFlow, 'row' | 'owner'>,
): Promise<void> {
  if (identity.type === 'bound') {
    // The caller may be anybody with the link. Such callers must not use up the owner's budgets.
    await callLimits.answer({ tenant: owner.tenant, userId: UNKNOWN_USER }, row.id);
    return;
  }
  await callLimits.call({ kind: 'user', ...owner }, true);
  await callLimits.answer(owner, row.id);
}

/**
 * The page of a question that has ended. It names what was connected only if `target` is given, which is done only for the
 * owner.
 */
export async function endedView(parts: Parts, row: Row, target?: AccountTarget): Promise<PageView> {
  switch (row.status) {
    case 'accepted': {
      if (target === undefined) return { page: 'done' };
      const { tenant, userId } = row.definition;
      const ref = { tenant, userId, toolId: target.toolId, connectorId: target.connector.id };
      return (await hasBrought(parts, ref, row)) ? doneView(parts, row.id, target) : { page: 'settled' };
    }
    case 'declined':
      return { page: 'declined' };
    case 'cancelled':
    case 'withdrawn':
      return { page: 'settled' };
    default:
      return { page: 'expired' };
  }
}

/** The page after a credential was connected. */
export function doneView(
  { notifyOrigins, identity }: Parts,
  elicitationId: string,
  target: AccountTarget,
  withheldScopes: readonly string[] = [],
): PageView & { page: 'done' } {
  return {
    page: 'done',
    ...(target.kind === 'credential' && { service: target.service }),
    elicitationId,
    ...(identity.type !== 'bound' && { hasAccountsPage: true }),
    ...(notifyOrigins.length > 0 && { tell: notifyOrigins }),
    ...(withheldScopes.length > 0 && { withheldScopes }),
  };
}

/** The sign-in before a page. `anew` makes the provider ask again even if a person is signed in there. */
export function signInView(
  { identity }: Parts,
  { browser }: { readonly browser: Pick<Visit['browser'], 'id'> },
  own: OwnPage,
  anew = false,
): PageView {
  const signIn = buildFormTarget(browser, `${pathOf(own)}/sign-in${anew ? '?anew=1' : ''}`);
  const leadsTo =
    own.about === 'connect' ? {} : ({ leadsTo: isOfApproval(own) ? 'approval' : own.about } as const);
  return identity.type === 'provider'
    ? { page: 'sign-in', signIn, organisation: identity.organisation, ...leadsTo }
    : { page: 'dev-sign-in', signIn, ...leadsTo };
}

/** The page for a person other than the owner of a question. */
export function mismatchView(browser: Pick<Visit['browser'], 'id'>, own: OwnPage): PageView {
  if (own.about === 'answer') {
    const signOut = buildFormTarget(browser, `${pathOf(own)}/sign-out`);
    return { page: 'mismatch', about: 'answer', signOut };
  }
  const id = own.about === 'connect' ? own.elicitationId : '';
  return { page: 'mismatch', signOut: buildFormTarget(browser, `/auth/sign-out?elicitationId=${id}`) };
}

import { bucketOfElicitationId, isSameOwner } from '@parley/core/domain/ids';
import { type Flow, signInName } from '../../accounts/flows/flows.ts';
import {
  ACCOUNTS_PAGE,
  connectPath,
  INBOX_PAGE,
  isOfApproval,
  type OwnPage,
  pathOf,
} from '../../accounts/own-pages.ts';
import type { ProviderIdentity, SignedIn } from '../identity/identity.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import { findOwner, mismatchView, signInView } from '../serving/access.ts';
import { fingerprintOf } from '../serving/browser.ts';
import { readForm } from '../serving/form.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, page, single, type Visit } from '../serving/visit.ts';
import type { PageView } from '../views/view.ts';

/** The posts that begin a sign-in: redirects to the provider, or signs in with the name that was typed. */
export async function signIn(parts: Parts, visit: Visit, own: OwnPage): Promise<PageReply> {
  const { identity } = parts;
  const form = await readForm(parts, visit, pathOf(own));
  if ('view' in form) return page(form.view);
  const isOwned = own.about === 'connect' || (own.about === 'answer' && !isOfApproval(own));
  if (identity.type === 'bound' || (isOwned && (await findOwner(parts, own)) === undefined))
    return page({ page: 'not-found' });
  if (identity.type === 'provider') return leave(parts, visit, identity, own);
  const person = identity.person(single(form.fields, FORM_FIELDS.user) ?? '');
  if (person !== undefined) return arrive(parts, visit, own, { person });
  return page((await countFailure(parts, visit)) ?? signInView(parts, visit, own));
}

/** `POST /auth/connect/:id/sign-in`. */
export function signInToConnect(parts: Parts, visit: Visit): Promise<PageReply> {
  return signIn(parts, visit, { about: 'connect', elicitationId: visit.param });
}

/** `POST /auth/accounts/sign-in`. */
export function signInToAccounts(parts: Parts, visit: Visit): Promise<PageReply> {
  return signIn(parts, visit, ACCOUNTS_PAGE);
}

/** `GET /auth/signed-in`: the return from the sign-in. */
export async function signedIn(parts: Parts, visit: Visit): Promise<PageReply> {
  const { identity, flows } = parts;
  if (identity.type !== 'provider') return page({ page: 'not-found' });
  const seconds = await parts.attempts.blocked(visit.address);
  if (seconds !== undefined) return page({ page: 'too-many', retryAfterSeconds: seconds });
  const name = signInName(single(visit.query, 'state') ?? '');
  const found = await flows.find(name);
  // For example a reload. The browser that came first is signed in already, and no other browser is.
  if (found?.taken === true) return { type: 'moved', path: pathOf(ownPageOf(found.flow)) };
  if (found === undefined || found.flow.browser !== fingerprintOf(visit.browser))
    return failed(parts, visit, undefined, { detail: 'the sign-in belongs to another browser, or to none' });
  const own = ownPageOf(found.flow);
  const callbackState = await flows.take(name);
  if (callbackState === undefined) return failed(parts, visit, own, { detail: 'the sign-in was over' });
  const result = await identity.finish(`${parts.publicUrl}${visit.head.url}`, callbackState);
  if (result.type === 'signed-in') return arrive(parts, visit, own, result);
  // Failures count only here: another site can make a browser request this path, but not with a flow of this browser.
  const tooMany = await countFailure(parts, visit);
  const shown = failed(parts, visit, own, result);
  return tooMany === undefined ? shown : page(tooMany);
}

/** `POST /auth/sign-out`: signs out, and shows the sign-in for another person. */
export async function signOut(parts: Parts, visit: Visit): Promise<PageReply> {
  const id = single(visit.query, 'elicitationId') ?? '';
  const known = bucketOfElicitationId(id) !== undefined && parts.identity.type !== 'bound';
  const form = await readForm(parts, visit, known ? connectPath(id) : undefined);
  if ('view' in form) return page(form.view);
  const browserId = await parts.sessions.signOut(visit.browser);
  return known
    ? page(
        signInView(parts, { browser: { id: browserId } }, { about: 'connect', elicitationId: id }, true),
        browserId,
      )
    : page({ page: 'not-found' }, browserId);
}

async function leave(
  parts: Parts,
  visit: Visit,
  identity: ProviderIdentity,
  own: OwnPage,
): Promise<PageReply> {
  const start = await identity.begin({ anew: visit.query.has('anew') });
  if ('type' in start) return failed(parts, visit, own, start);
  const browser = fingerprintOf(visit.browser);
  const unknown = { tenant: '', userId: '', toolId: '', connectorId: 'sign-in', flowId: '' };
  const elicitationId = idOf(own) ?? '';
  const about = own.about === 'connect' || own.about === 'accounts' ? {} : { about: own.about };
  const flow: Flow = { browser, elicitationId, ...about, ...unknown };
  await parts.flows.begin(signInName(start.state), flow, start.callbackState);
  return page({ page: 'continue', url: start.url, origin: new URL(start.url).origin });
}

/** Signs a person in, and shows the question if they own it, or their accounts. */
async function arrive(
  parts: Parts,
  visit: Visit,
  own: OwnPage,
  { person, signIn: kept }: Pick<SignedIn, 'person' | 'signIn'>,
): Promise<PageReply> {
  const browserId = await parts.sessions.signIn(visit.browser, person);
  // What is asked for may be connected by now.
  if (kept !== undefined) await parts.signInAccounts?.signedIn(person, kept);
  const owner = await findOwner(parts, own);
  if (owner === undefined || isSameOwner(owner, person))
    return { type: 'moved', path: pathOf(own), browserId };
  parts.onEvent({ type: 'mismatch', elicitationId: idOf(own) ?? '', tenant: owner.tenant });
  return page((await countFailure(parts, visit)) ?? mismatchView({ id: browserId }, own), browserId);
}

/** The page that a sign-in was begun for. */
function ownPageOf({ elicitationId, about }: Flow): OwnPage {
  if (about === 'inbox') return INBOX_PAGE;
  return elicitationId === '' ? ACCOUNTS_PAGE : { about: about ?? 'connect', elicitationId };
}

function idOf(own: OwnPage): string | undefined {
  return 'elicitationId' in own ? own.elicitationId : undefined;
}

/** Reports a sign-in that failed, and shows the page for it. */
function failed(
  parts: Parts,
  visit: Visit,
  own: OwnPage | undefined,
  { detail, providerError }: { readonly detail: string; readonly providerError?: string | undefined },
): PageReply {
  const elicitationId = own && idOf(own);
  parts.onEvent({
    type: 'failed',
    code: 'sign_in',
    detail,
    ...(elicitationId !== undefined && { elicitationId }),
    ...(providerError !== undefined && { providerError }),
  });
  return page({
    page: 'failed',
    reason: 'sign-in',
    requestId: visit.requestId,
    ...(own !== undefined && { retry: pathOf(own) }),
    ...(providerError !== undefined && { providerError }),
  });
}

/** Counts a failure of this address. Returns the page to show instead once the address has too many. */
export async function countFailure(
  { attempts }: Pick<Parts, 'attempts'>,
  { address }: Visit,
): Promise<PageView | undefined> {
  const seconds = await attempts.failed(address);
  return seconds === undefined ? undefined : { page: 'too-many', retryAfterSeconds: seconds };
}

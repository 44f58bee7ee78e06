/** The sign-in of people on the hosted pages. Talking to the provider is in `at-provider.ts` and `pages/identity`. */

import { bucketOfElicitationId, isSameOwner } from '@parley/core/domain/ids';
import type { Flow } from '../../accounts/flows/flows.ts';
import {
  ACCOUNTS_PAGE,
  connectPath,
  INBOX_PAGE,
  isOfApproval,
  type OwnPage,
  pathOf,
} from '../../accounts/own-pages.ts';
import type { SignedIn } from '../identity/identity.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import { findOwner, mismatchView, signInView } from '../serving/access.ts';
import { countFailure } from '../serving/attempts.ts';
import { readForm } from '../serving/form.ts';
import type { Parts } from '../serving/parts.ts';
import { type PageReply, page, single, type Visit } from '../serving/visit.ts';
import { redirectToProvider, returnFromProvider, type SignInOrigin } from './at-provider.ts';

/** Begins a sign-in: redirects to the provider, or signs in with a typed name. */
export async function signIn(parts: Parts, visit: Visit, own: OwnPage): Promise<PageReply> {
  const { identity } = parts;
  const form = await readForm(parts, visit, pathOf(own));
  if ('view' in form) return page(form.view);
  const isOwned = own.about === 'connect' || (own.about === 'answer' && !isOfApproval(own));
  if (identity.type === 'bound' || (isOwned && (await findOwner(parts, own)) === undefined))
    return page({ page: 'not-found' });
  if (identity.type === 'provider') {
    const about = own.about === 'connect' || own.about === 'accounts' ? {} : { about: own.about };
    const flow = { ...about, connectorId: 'sign-in' } as const;
    return redirectToProvider(parts, visit, identity, { origin: originOf(own), flow });
  }
  const person = identity.person(single(form.fields, FORM_FIELDS.user) ?? '');
  if (person !== undefined) return enter(parts, visit, own, { person });
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
  const { identity } = parts;
  if (identity.type !== 'provider') return page({ page: 'not-found' });
  return returnFromProvider(parts, visit, {
    connectorId: 'sign-in',
    elsewhere: {},
    finish: identity.finish,
    originOf: (flow) => originOf(ownPageOf(flow)),
    enter: (signed, flow) => enter(parts, visit, ownPageOf(flow), signed),
  });
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

/** Signs a person in. Shows the question if the person owns it, or the person's accounts. */
async function enter(
  parts: Parts,
  visit: Visit,
  own: OwnPage,
  { person, signIn: kept }: Pick<SignedIn, 'person' | 'signIn'>,
): Promise<PageReply> {
  const browserId = await parts.sessions.signIn(visit.browser, person);
  // The sign-in may have connected the requested account.
  if (kept !== undefined) await parts.signInAccounts?.signedIn(person, kept);
  const owner = await findOwner(parts, own);
  if (owner === undefined || isSameOwner(owner, person))
    return { type: 'moved', path: pathOf(own), browserId };
  parts.onEvent({ type: 'mismatch', elicitationId: idOf(own) ?? '', tenant: owner.tenant });
  return page((await countFailure(parts, visit)) ?? mismatchView({ id: browserId }, own), browserId);
}

/** The page for which a sign-in began. */
function ownPageOf({ elicitationId, about }: Flow): OwnPage {
  if (about === 'inbox') return INBOX_PAGE;
  return elicitationId === '' ? ACCOUNTS_PAGE : { about: about ?? 'connect', elicitationId };
}

function originOf(own: OwnPage): SignInOrigin & { readonly retry: string } {
  const elicitationId = idOf(own);
  return { retry: pathOf(own), ...(elicitationId !== undefined && { elicitationId }) };
}

function idOf(own: OwnPage): string | undefined {
  return 'elicitationId' in own ? own.elicitationId : undefined;
}

import { bucketOfElicitationId } from '@parley/shared/domain/ids';
import { fingerprintOf } from '../flows/browser.ts';
import { type Flow, signInName } from '../flows/flows.ts';
import type { Person, ProviderIdentity } from '../identity/identity.ts';
import { connectPath, pathAfterSignIn } from '../own-pages.ts';
import { FORM_FIELDS } from '../pages/fields.ts';
import type { ConnectView } from '../pages/view.ts';
import { findAsked, isSame, mismatchView, signInView } from './access.ts';
import { readForm } from './form.ts';
import type { Parts } from './parts.ts';
import { type PageReply, page, single, type Visit } from './visit.ts';

/**
 * `POST /auth/connect/:id/sign-in` and, without an id, `POST /auth/accounts/sign-in`: redirects to the sign-in, or signs in with the name
 * that was typed.
 */
export async function signIn(parts: Parts, visit: Visit): Promise<PageReply> {
  const { identity } = parts;
  const id = visit.param;
  const form = await readForm(parts, visit, pathAfterSignIn(id));
  if ('view' in form) return page(form.view);
  if (identity.type === 'bound' || (id !== '' && (await findAsked(parts, id)) === undefined))
    return page({ page: 'not-found' });
  if (identity.type === 'provider') return leave(parts, visit, identity);
  const person = identity.person(single(form.fields, FORM_FIELDS.user) ?? '');
  if (person !== undefined) return arrive(parts, visit, id, person);
  return page((await counted(parts, visit)) ?? signInView(parts, visit, id));
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
  if (found?.taken === true) return { type: 'moved', path: pathAfterSignIn(found.flow.elicitationId) };
  if (found === undefined || found.flow.browser !== fingerprintOf(visit.browser))
    return failed(parts, visit, undefined, 'the sign-in belongs to another browser, or to none');
  const { elicitationId } = found.flow;
  const keep = await flows.take(name);
  if (keep === undefined) return failed(parts, visit, elicitationId, 'the sign-in was over');
  const result = await identity.finish(`${parts.publicUrl}${visit.head.url}`, keep);
  if (result.type === 'signed-in') return arrive(parts, visit, elicitationId, result.person);
  // Failures count only here: another site can make a browser request this path, but not with a flow of this browser.
  const tooMany = await counted(parts, visit);
  const shown = failed(parts, visit, elicitationId, result.detail, result.providerError);
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
    ? page(signInView(parts, { browser: { id: browserId } }, id, true), browserId)
    : page({ page: 'not-found' }, browserId);
}

async function leave(parts: Parts, visit: Visit, identity: ProviderIdentity): Promise<PageReply> {
  const elicitationId = visit.param;
  const start = await identity.begin({ anew: visit.query.has('anew') });
  if (start === undefined) {
    return failed(parts, visit, elicitationId, 'the sign-in is away');
  }
  const browser = fingerprintOf(visit.browser);
  const unknown = { tenant: '', userId: '', toolId: '', connectorId: 'sign-in', flowId: '' };
  const flow: Flow = { browser, elicitationId, ...unknown };
  await parts.flows.begin(signInName(start.state), flow, start.keep);
  return page({ page: 'continue', url: start.url, origin: new URL(start.url).origin });
}

/** Signs a person in, and shows the question if they own it, or their accounts. */
async function arrive(parts: Parts, visit: Visit, id: string, person: Person): Promise<PageReply> {
  const browserId = await parts.sessions.signIn(visit.browser, person);
  const asked = await findAsked(parts, id);
  if (asked === undefined || isSame(asked.owner, person))
    return { type: 'moved', path: pathAfterSignIn(id), browserId };
  parts.onEvent({ type: 'mismatch', elicitationId: id, tenant: asked.owner.tenant });
  return page((await counted(parts, visit)) ?? mismatchView({ id: browserId }, id), browserId);
}

/** Reports a sign-in that failed, and shows the page for it. */
function failed(
  parts: Parts,
  visit: Visit,
  elicitationId: string | undefined,
  detail: string,
  providerError?: string,
): PageReply {
  parts.onEvent({
    type: 'failed',
    code: 'sign_in',
    detail,
    ...(elicitationId !== undefined && elicitationId !== '' && { elicitationId }),
    ...(providerError !== undefined && { providerError }),
  });
  return page({
    page: 'failed',
    reason: 'sign-in',
    requestId: visit.requestId,
    ...(elicitationId !== undefined && { retry: pathAfterSignIn(elicitationId) }),
    ...(providerError !== undefined && { providerError }),
  });
}

/** Counts a failure of this address. Returns the page to show instead once the address has too many. */
export async function counted(
  { attempts }: Pick<Parts, 'attempts'>,
  { address }: Visit,
): Promise<ConnectView | undefined> {
  const seconds = await attempts.failed(address);
  return seconds === undefined ? undefined : { page: 'too-many', retryAfterSeconds: seconds };
}

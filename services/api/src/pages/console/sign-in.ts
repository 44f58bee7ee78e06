import { FORM_FIELDS } from '../kit/fields.ts';
import { countFailure } from '../serving/attempts.ts';
import { readForm } from '../serving/form.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../serving/visit.ts';
import { redirectToProvider, returnFromProvider } from '../sign-in/at-provider.ts';
import type { PageView } from '../views/view.ts';
import type { Operator } from './identity.ts';
import type { ConsoleParts } from './parts.ts';

const HOME = '/console';
const SIGN_IN = '/console/sign-in';
const PLACE = /^\/console(?:[/?][\w.~%!$&'()*+,;=:@/?-]*)?$/;
const PLACE_LENGTH_MAX = 1_000;

/** `GET /console/sign-in?to=<path>`: shows where the operator signs in. */
export async function showSignIn(parts: ConsoleParts, visit: Visit): Promise<PageReply> {
  return page(signInView(parts, visit, placeOf(single(visit.query, 'to'))));
}

/** `POST /console/sign-in?to=<path>`: redirects to the provider, or signs in with a typed name. */
export async function signIn(parts: ConsoleParts, visit: Visit): Promise<PageReply> {
  const to = placeOf(single(visit.query, 'to'));
  const form = await readForm(parts, visit, to);
  if ('view' in form) return page(form.view);
  const { identity } = parts;
  if (identity.type === 'provider') {
    const flow = { connectorId: 'console' } as const;
    return redirectToProvider(parts, visit, identity, { origin: { retry: to }, flow, kept: { to } });
  }
  const operator = identity.operator(single(form.fields, FORM_FIELDS.user) ?? '');
  if (operator !== undefined) return enter(parts, visit, operator, to);
  return page((await countFailure(parts, visit)) ?? signInView(parts, visit, to));
}

/** `GET /console/signed-in`: the return from the provider. */
export async function signedIn(parts: ConsoleParts, visit: Visit): Promise<PageReply> {
  const { identity } = parts;
  if (identity.type !== 'provider') return page({ page: 'not-found' });
  return returnFromProvider(parts, visit, {
    connectorId: 'console',
    elsewhere: { retry: HOME },
    finish: identity.finish,
    originOf: (_flow, kept) => ({ retry: placeOf(kept?.to) }),
    enter: (operator, _flow, kept) => enter(parts, visit, operator, placeOf(kept.to)),
  });
}

function signInView({ identity }: ConsoleParts, { browser }: Visit, to: string, anew = false): PageView {
  const query = new URLSearchParams({ to, ...(anew && { anew: '1' }) });
  const form = { signIn: buildFormTarget(browser, `${SIGN_IN}?${query}`), leadsTo: 'console' } as const;
  return identity.type === 'provider'
    ? { page: 'sign-in', organisation: identity.organisation, ...form }
    : { page: 'dev-sign-in', ...form };
}

/** Signs in an operator who has a role in some tenant. Everybody else gets a page that says that they have none. */
async function enter(parts: ConsoleParts, visit: Visit, operator: Operator, to: string): Promise<PageReply> {
  const { userId, tenants } = operator;
  const note = (change: 'signed-in' | 'no-role') =>
    parts.onSession(
      { change, operator: userId, tenants: tenants.map(({ tenant }) => tenant) },
      visit.requestId,
    );
  if (tenants.length === 0) {
    note('no-role');
    const query = new URLSearchParams({ to, anew: '1' });
    const signIn = buildFormTarget(visit.browser, `${SIGN_IN}?${query}`);
    return page({ page: 'no-role', person: operator.name, signIn });
  }
  const browserId = await parts.sessions.signIn(visit.browser, operator);
  note('signed-in');
  return { type: 'moved', path: to, browserId };
}

/** The path in the console that a text names; by default, the first page. */
function placeOf(text = HOME): string {
  return text.length <= PLACE_LENGTH_MAX && PLACE.test(text) ? text : HOME;
}

import type { Flow } from '../../accounts/flows/flows.ts';
import { signInName } from '../../accounts/flows/flows.ts';
import { FORM_FIELDS } from '../kit/fields.ts';
import { fingerprintOf } from '../serving/browser.ts';
import { readForm } from '../serving/form.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../serving/visit.ts';
import { countFailure } from '../sign-in/sign-in.ts';
import type { PageView } from '../views/view.ts';
import type { Operator } from './identity.ts';
import type { ConsoleParts } from './parts.ts';

const HOME = '/console';
const SIGN_IN = '/console/sign-in';
const PLACE = /^\/console(?:[/?][\w.~%!$&'()*+,;=:@/?-]*)?$/;
const PLACE_LENGTH_MAX = 1_000;
/** The connector id of flows of the console. No connector has it, so a sign-in of the hosted pages cannot return as one of the console. */
const CONSOLE = 'console';

/** `GET /console/sign-in?to=<path>`: says where the operator signs in. */
export async function showSignIn(parts: ConsoleParts, visit: Visit): Promise<PageReply> {
  return page(signInView(parts, visit, placeOf(single(visit.query, 'to'))));
}

/** `POST /console/sign-in?to=<path>`: redirects to the provider, or signs in with the name that was typed. */
export async function signIn(parts: ConsoleParts, visit: Visit): Promise<PageReply> {
  const to = placeOf(single(visit.query, 'to'));
  const form = await readForm(parts, visit, to);
  if ('view' in form) return page(form.view);
  const { identity } = parts;
  if (identity.type === 'provider') return leave(parts, visit, to);
  const operator = identity.operator(single(form.fields, FORM_FIELDS.user) ?? '');
  if (operator !== undefined) return enter(parts, visit, operator, to);
  return page((await countFailure(parts, visit)) ?? signInView(parts, visit, to));
}

/** `GET /console/signed-in`: the return from the provider. */
export async function signedIn(parts: ConsoleParts, visit: Visit): Promise<PageReply> {
  const { identity, flows } = parts;
  if (identity.type !== 'provider') return page({ page: 'not-found' });
  const seconds = await parts.attempts.blocked(visit.address);
  if (seconds !== undefined) return page({ page: 'too-many', retryAfterSeconds: seconds });
  const name = signInName(single(visit.query, 'state') ?? '');
  const found = await flows.find(name);
  // A second return, for example by a reload. The browser of the first return is signed in already, and no other browser is.
  if (found?.taken === true) return { type: 'moved', path: HOME };
  if (found?.flow.connectorId !== CONSOLE || found.flow.browser !== fingerprintOf(visit.browser))
    return failed(parts, visit, HOME, { detail: 'the sign-in belongs to another browser, or to none' });
  const kept = await flows.take(name);
  if (kept === undefined) return failed(parts, visit, HOME, { detail: 'the sign-in was over' });
  const to = placeOf(kept.to);
  const result = await identity.finish(`${parts.publicUrl}${visit.head.url}`, kept);
  if (!('type' in result)) return enter(parts, visit, result, to);
  const tooMany = await countFailure(parts, visit);
  const shown = failed(parts, visit, to, result);
  return tooMany === undefined ? shown : page(tooMany);
}

function signInView({ identity }: ConsoleParts, { browser }: Visit, to: string, anew = false): PageView {
  const query = new URLSearchParams({ to, ...(anew && { anew: '1' }) });
  const form = { signIn: buildFormTarget(browser, `${SIGN_IN}?${query}`), leadsTo: 'console' } as const;
  return identity.type === 'provider'
    ? { page: 'sign-in', organisation: identity.organisation, ...form }
    : { page: 'dev-sign-in', ...form };
}

async function leave(parts: ConsoleParts, visit: Visit, to: string): Promise<PageReply> {
  if (parts.identity.type !== 'provider') return page({ page: 'not-found' });
  const start = await parts.identity.begin({ anew: visit.query.has('anew') });
  if ('type' in start) return failed(parts, visit, to, start);
  const nobody = { elicitationId: '', tenant: '', userId: '', toolId: '', flowId: '' };
  const flow: Flow = { browser: fingerprintOf(visit.browser), connectorId: CONSOLE, ...nobody };
  await parts.flows.begin(signInName(start.state), flow, { ...start.callbackState, to });
  return page({ page: 'continue', url: start.url, origin: new URL(start.url).origin });
}

/** Signs an operator in who has a role somewhere; shows everybody else that they have none. */
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

/** The place in the console that a text names; the first page where the text names no place. */
function placeOf(text = HOME): string {
  return text.length <= PLACE_LENGTH_MAX && PLACE.test(text) ? text : HOME;
}

interface FailedSignIn {
  readonly detail: string;
  readonly providerError?: string | undefined;
}

/** Reports a sign-in that failed, and shows the page for it. */
function failed(
  parts: ConsoleParts,
  visit: Visit,
  retry: string,
  { detail, providerError }: FailedSignIn,
): PageReply {
  const said = providerError === undefined ? {} : { providerError };
  parts.onEvent({ type: 'failed', code: 'sign_in', detail, ...said });
  return page({ page: 'failed', reason: 'sign-in', requestId: visit.requestId, retry, ...said });
}

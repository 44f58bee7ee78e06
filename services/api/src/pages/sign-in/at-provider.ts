/**
 * Sends a browser to a provider's sign-in and handles its return, for pages and console alike. What a sign-in leads to is
 * decided by the callers.
 */

import type { CallbackState } from '../../accounts/connector.ts';
import { type Flow, type Flows, signInName } from '../../accounts/flows/flows.ts';
import type { ProviderIdentity, SignInFailure } from '../identity/identity.ts';
import { countFailure } from '../serving/attempts.ts';
import { fingerprintOf } from '../serving/browser.ts';
import type { PageParts } from '../serving/parts.ts';
import { type PageReply, page, single, type Visit } from '../serving/visit.ts';

type SignInParts = Pick<PageParts, 'attempts' | 'onEvent' | 'publicUrl'> & { readonly flows: Flows };

/** The connector id of sign-in flows. Connectors never have such an id, and each family of pages has its own. */
type SignInConnectorId = 'sign-in' | 'console';

/** Where a sign-in began. */
export interface SignInOrigin {
  /** The path at which the person can try again. */
  readonly retry?: string;
  readonly elicitationId?: string;
}

interface SignInRedirect {
  readonly origin: SignInOrigin;
  readonly flow: Pick<Flow, 'about'> & { readonly connectorId: SignInConnectorId };
  /** State that is returned together with the provider's state. Both are sealed. */
  readonly kept?: CallbackState;
}

/** Redirects the browser to the sign-in of the provider. */
export async function redirectToProvider(
  parts: SignInParts,
  visit: Visit,
  provider: Pick<ProviderIdentity, 'begin'>,
  { origin, flow: own, kept }: SignInRedirect,
): Promise<PageReply> {
  const start = await provider.begin({ anew: visit.query.has('anew') });
  if ('type' in start) return failed(parts, visit, origin, start);
  const nobody = { tenant: '', userId: '', toolId: '', flowId: '' };
  const browser = fingerprintOf(visit.browser);
  const flow: Flow = { ...own, ...nobody, browser, elicitationId: origin.elicitationId ?? '' };
  await parts.flows.begin(signInName(start.state), flow, { ...start.callbackState, ...kept });
  return page({ page: 'continue', url: start.url, origin: new URL(start.url).origin });
}

interface SignInReturn<Signed> {
  readonly connectorId: SignInConnectorId;
  /** For a browser that did not begin the sign-in. */
  readonly elsewhere: SignInOrigin;
  /** Never rejects. */
  finish(url: string, callbackState: CallbackState): Promise<Signed | SignInFailure>;
  originOf(flow: Flow, callbackState?: CallbackState): SignInOrigin & { readonly retry: string };
  /** Called once for each sign-in, with the browser that began it. */
  enter(signed: Signed, flow: Flow, callbackState: CallbackState): Promise<PageReply>;
}

/** Handles the return from the provider. Only the browser that began the sign-in can enter, and only once. */
export async function returnFromProvider<Signed extends object>(
  parts: SignInParts,
  visit: Visit,
  { connectorId, elsewhere, finish, originOf, enter }: SignInReturn<Signed>,
): Promise<PageReply> {
  const seconds = await parts.attempts.blocked(visit.address);
  if (seconds !== undefined) return page({ page: 'too-many', retryAfterSeconds: seconds });
  const name = signInName(single(visit.query, 'state') ?? '');
  const found = await parts.flows.find(name);
  if (found?.flow.connectorId !== connectorId) return failed(parts, visit, elsewhere, NOT_OURS);
  const { flow, taken } = found;
  // This happens, for example, on a reload. The browser of the first return is already signed in, and other browsers stay
  // signed out.
  if (taken) return { type: 'moved', path: originOf(flow).retry };
  if (flow.browser !== fingerprintOf(visit.browser)) return failed(parts, visit, elsewhere, NOT_OURS);
  const callbackState = await parts.flows.take(name);
  if (callbackState === undefined)
    return failed(parts, visit, originOf(flow), { detail: 'the sign-in has ended' });
  const result = await finish(`${parts.publicUrl}${visit.head.url}`, callbackState);
  if (!isFailure(result)) return enter(result, flow, callbackState);
  // Failures count only from here on. Another site can make a browser request this path, but not with a flow of that browser.
  const tooMany = await countFailure(parts, visit);
  const shown = failed(parts, visit, originOf(flow, callbackState), result);
  return tooMany === undefined ? shown : page(tooMany);
}

const NOT_OURS = { detail: 'the sign-in belongs to another browser, or to none' };

function isFailure(result: object): result is SignInFailure {
  return 'type' in result && result.type === 'failed';
}

/** Reports a failed sign-in, and shows the page for it. */
function failed(
  parts: SignInParts,
  visit: Visit,
  { retry, elicitationId }: SignInOrigin,
  { detail, providerError }: Omit<SignInFailure, 'type'>,
): PageReply {
  const said = providerError === undefined ? {} : { providerError };
  const about = elicitationId === undefined ? {} : { elicitationId };
  parts.onEvent({ type: 'failed', code: 'sign_in', detail, ...about, ...said });
  const again = retry === undefined ? {} : { retry };
  return page({ page: 'failed', reason: 'sign-in', requestId: visit.requestId, ...again, ...said });
}

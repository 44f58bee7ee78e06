/** The pages that link an account of another service to a person. What the service is comes in through `outside.ts`. */

import { randomBytes } from 'node:crypto';
import { flowName } from '../../accounts/flows/flows.ts';
import { linkPath, type OwnPage } from '../../accounts/own-pages.ts';
import type { Surface } from '../../http/route.ts';
import { signInView } from '../serving/access.ts';
import { fingerprintOf } from '../serving/browser.ts';
import { readForm } from '../serving/form.ts';
import { missingPage, type PageRoute, pageRoute } from '../serving/page-route.ts';
import { type AuthPagesDeps, createParts, type Parts } from '../serving/parts.ts';
import { buildFormTarget, type PageReply, page, single, type Visit } from '../serving/visit.ts';
import { signIn } from '../sign-in/sign-in.ts';
import { isLinkToken, type OutsideAccounts } from './outside.ts';

interface OutsideParts extends Parts {
  readonly outside: OutsideAccounts;
}

const STATE_BYTES = 24;
const RETURN_PATH = '/auth/link/return';
/** The connector id in the flow of a browser that was sent to the service. */
const CONNECTOR = 'outside-link';

const PAGES: readonly PageRoute<OutsideParts>[] = [
  { method: 'GET', path: '/auth/link/:id', handle: show },
  {
    method: 'POST',
    path: '/auth/link/:id/sign-in',
    handle: (parts, visit) => signIn(parts, visit, ownPage(visit)),
  },
  { method: 'POST', path: '/auth/link/:id/sign-out', handle: leaveAccount },
  { method: 'POST', path: '/auth/link/:id/start', handle: start },
];

/**
 * `/auth/link`: links an account of another service to the signed-in person. The same browser must be signed in to both, so a
 * link that somebody sends to another person connects nothing. Mount it before the rest of `/auth`.
 */
export function linkRoutes(deps: AuthPagesDeps, outside: OutsideAccounts): Surface {
  const parts: OutsideParts = { ...createParts(deps), outside };
  return {
    routes: PAGES.map((one) => pageRoute(parts, one)),
    below: { path: '/auth/link', missing: missingPage(parts) },
  };
}

function ownPage({ param }: Visit): OwnPage {
  return { about: 'link', elicitationId: param };
}

/** Shows the account and the person before anything is done, or handles the return from the service. */
async function show(parts: OutsideParts, visit: Visit): Promise<PageReply> {
  if (visit.param === 'return') return comeBack(parts, visit);
  const account = isLinkToken(visit.param) ? await parts.outside.find(visit.param) : undefined;
  if (account === undefined) return page({ page: 'link-spent' });
  const person = await parts.sessions.person(visit.browser);
  if (person === undefined) return page(signInView(parts, visit, ownPage(visit)));
  return page({
    page: 'link',
    ...account,
    person: person.name,
    proceed: buildFormTarget(visit.browser, `${linkPath(visit.param)}/start`),
    signOut: buildFormTarget(visit.browser, `${linkPath(visit.param)}/sign-out`),
  });
}

/** Sends the browser to the service, which identifies the account that is signed in. */
async function start(parts: OutsideParts, visit: Visit): Promise<PageReply> {
  const form = await readForm(parts, visit, linkPath(visit.param));
  if ('view' in form) return page(form.view);
  const person = await parts.sessions.person(visit.browser);
  if (person === undefined) return page(signInView(parts, visit, ownPage(visit)));
  if (!isLinkToken(visit.param) || (await parts.outside.find(visit.param)) === undefined)
    return page({ page: 'link-spent' });
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const { tenant, userId } = person;
  await parts.flows.begin(
    flowName(state),
    {
      browser: fingerprintOf(visit.browser),
      elicitationId: visit.param,
      flowId: state,
      tenant,
      userId,
      toolId: '',
      connectorId: CONNECTOR,
    },
    {},
  );
  const url = await parts.outside.addressOf(visit.param, state, redirectUriOf(parts));
  return page({ page: 'continue', url, origin: new URL(url).origin });
}

async function comeBack(parts: OutsideParts, visit: Visit): Promise<PageReply> {
  const seconds = await parts.attempts.blocked(visit.address);
  if (seconds !== undefined) return page({ page: 'too-many', retryAfterSeconds: seconds });
  const name = flowName(single(visit.query, 'state') ?? '');
  const found = await parts.flows.find(name);
  const { flow } = found ?? {};
  const person = await parts.sessions.person(visit.browser);
  const isOurs =
    flow?.connectorId === CONNECTOR &&
    flow.browser === fingerprintOf(visit.browser) &&
    person?.tenant === flow.tenant &&
    person.userId === flow.userId;
  if (!isOurs || found?.taken === true) return page({ page: 'link-spent' });
  await parts.flows.take(name);
  const token = flow.elicitationId;
  const code = single(visit.query, 'code');
  const retry = linkPath(token);
  if (code === undefined)
    return page({ page: 'failed', reason: 'consent_refused', requestId: visit.requestId, retry });
  const account = await parts.outside.find(token);
  if (account === undefined) return page({ page: 'link-spent' });
  const proof = await parts.outside.prove(token, code, redirectUriOf(parts));
  if (proof === 'failed')
    return page({ page: 'failed', reason: 'provider_error', requestId: visit.requestId, retry });
  if (proof === 'other') {
    const tooMany = await parts.attempts.failed(visit.address);
    return page(
      tooMany === undefined
        ? { page: 'link-other', ...account }
        : { page: 'too-many', retryAfterSeconds: tooMany },
    );
  }
  await parts.outside.link(token, { tenant: person.tenant, userId: person.userId });
  return page({ page: 'linked', ...account });
}

async function leaveAccount(parts: OutsideParts, visit: Visit): Promise<PageReply> {
  const form = await readForm(parts, visit, linkPath(visit.param));
  if ('view' in form) return page(form.view);
  const id = await parts.sessions.signOut(visit.browser);
  return page(signInView(parts, { browser: { id } }, ownPage(visit), true), id);
}

function redirectUriOf({ publicUrl }: Pick<Parts, 'publicUrl'>): string {
  return `${publicUrl}${RETURN_PATH}`;
}

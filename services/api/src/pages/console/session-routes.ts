import { languageOf } from '../../http/headers/language.ts';
import { json, type RequestHead, type Route, route } from '../../http/route.ts';
import { csrfOf, mintBrowserId } from '../serving/browser.ts';
import { checkCsrf, sessionOf } from './admission.ts';
import type { ConsoleParts } from './parts.ts';

const TITLE = 'Parley';

/** The routes with which the page reads and ends its session. */
export function sessionRoutes(parts: ConsoleParts): readonly Route[] {
  return [readRoute(parts), signOutRoute(parts)];
}

/** The proof passes the head of the request on, because only a handler may ask the store. */
const BY_COOKIE = { by: 'session', read: (head: RequestHead) => head } as const;

function readRoute(parts: ConsoleParts): Route {
  return route<undefined, undefined, RequestHead>({
    method: 'GET',
    path: '/console/session',
    proof: BY_COOKIE,
    async handle({ head }) {
      const { browser, session } = await sessionOf(parts, head);
      const { name, tenants } = session;
      const { title = TITLE, logoUrl } = parts.brand;
      const language = languageOf(head.headers['accept-language']);
      const shown = { title, ...(logoUrl !== undefined && { logoUrl }), language };
      return json(200, { name, tenants, csrf: csrfOf(browser), ...shown });
    },
  });
}

function signOutRoute(parts: ConsoleParts): Route {
  return route<undefined, undefined, RequestHead>({
    method: 'POST',
    path: '/console/sign-out',
    proof: BY_COOKIE,
    async handle({ head }) {
      const { browser, session } = await sessionOf(parts, head);
      checkCsrf(browser, head);
      await parts.sessions.signOut(browser);
      const tenants = session.tenants.map(({ tenant }) => tenant);
      parts.onSession({ change: 'signed-out', operator: session.userId, tenants }, head.requestId);
      const headers = { 'set-cookie': parts.cookie.headers(mintBrowserId(), head) };
      return { type: 'empty', status: 204, headers };
    },
  });
}

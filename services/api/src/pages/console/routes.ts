import { ANYBODY, type Route, route, type Surface } from '../../http/route.ts';
import { type PageRoute, pageRoute } from '../serving/page-route.ts';
import { type ConsolePage, consoleAsset, consolePage, noConsolePage } from './page.ts';
import type { ConsoleParts } from './parts.ts';
import { sessionRoutes } from './session-routes.ts';
import { showSignIn, signedIn, signIn } from './sign-in.ts';

const BELOW = '/console';

const PAGES: readonly PageRoute<ConsoleParts>[] = [
  { method: 'GET', path: '/console/sign-in', handle: showSignIn, readsOnly: true },
  { method: 'POST', path: '/console/sign-in', handle: signIn },
  { method: 'GET', path: '/console/signed-in', handle: signedIn },
];

/** The routes of `/console`: the page for operators, its files, and the sign-in. */
export function consoleRoutes(parts: ConsoleParts): Surface {
  return {
    routes: [assetRoute(parts), ...sessionRoutes(parts), ...PAGES.map((one) => pageRoute(parts, one))],
    below: { path: BELOW, missing: (head) => consolePage(parts, head) },
  };
}

/** The route of `/console` for a deployment without a console. */
export function noConsoleRoutes(https: boolean): Surface {
  return { routes: [], below: { path: BELOW, missing: () => noConsolePage(https) } };
}

function assetRoute(page: ConsolePage): Route {
  return route({
    method: 'GET',
    path: '/console/assets/:name',
    proof: ANYBODY,
    readsOnly: true,
    handle: async ({ params: { name = '' } }) => consoleAsset(page, name),
  });
}

import { ANYBODY, type Route, route, type Surface } from '../../http/route.ts';
import { type ConsolePage, consoleAsset, consolePage, noConsolePage } from './page.ts';

const BELOW = '/console';

/** All of `/console`: the page of operators. */
export function consoleRoutes(page: ConsolePage): Surface {
  return {
    routes: [assetRoute(page)],
    below: { path: BELOW, missing: (head) => consolePage(page, head) },
  };
}

/** `/console` where there is no console. */
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

import { ANYBODY, json, type Route, route, type Surface } from '../route.ts';
import { docsPageOf } from './docs-page.ts';
import { openApiOf } from './openapi.ts';

const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'content-type': 'text/html; charset=utf-8',
  'x-content-type-options': 'nosniff',
};

/** The description of these routes: for machines, and as a page. */
export function docsRoutes(routes: readonly Route[], version: string): Surface {
  const api = openApiOf(routes, version);
  const page = docsPageOf(routes, api);
  const read = { method: 'GET', proof: ANYBODY, readsOnly: true } as const;
  return {
    routes: [
      route({ ...read, path: '/openapi.json', handle: async () => json(200, api) }),
      route({
        ...read,
        path: '/docs',
        handle: async () => ({ type: 'text', status: 200, body: page, headers: PAGE_HEADERS }),
      }),
    ],
  };
}

import { once } from '@parley/shared/async/once';
import { ANYBODY, json, type Route, route, type Surface } from '../route.ts';
import { docsPageOf } from './docs-page.ts';
import { openApiOf } from './openapi.ts';

const PAGE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'content-type': 'text/html; charset=utf-8',
  'x-content-type-options': 'nosniff',
};

/** The description of these routes: as OpenAPI, and as a page. */
export function docsRoutes(routes: readonly Route[], version: string): Surface {
  // The description is made for its first reader: it takes a tenth of a pod's start, and few pods are asked for it.
  const api = once(async () => openApiOf(routes, version));
  const page = once(async () => docsPageOf(routes, await api()));
  const read = { method: 'GET', proof: ANYBODY, readsOnly: true } as const;
  return {
    routes: [
      route({ ...read, path: '/openapi.json', handle: async () => json(200, await api()) }),
      route({
        ...read,
        path: '/docs',
        handle: async () => ({ type: 'text', status: 200, body: await page(), headers: PAGE_HEADERS }),
      }),
    ],
  };
}

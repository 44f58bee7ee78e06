/**
 * Serves the console's page and its files with strict headers. The console itself is in `clients/console`, its data comes from
 * the admin API.
 */

import type { Reply, RequestHead } from '../../http/route.ts';
import { closedPageHeaders } from '../kit/headers.ts';
import { html } from '../kit/html.ts';
import type { Brand } from '../kit/layout.ts';
import type { ConsoleFiles } from './files.ts';

/** The parts from which the console's page is served. */
export interface ConsolePage {
  /** Undefined if the console was not built. */
  readonly files: ConsoleFiles | undefined;
  readonly https: boolean;
  readonly brand: Brand;
}

const ASSETS = '/console/assets/';
const YEAR_SECONDS = 31_536_000;

/** The page, which is the same for every path of the console, because the browser chooses the view. */
export function consolePage({ files, https, brand }: ConsolePage, { url }: RequestHead): Reply {
  if (url.startsWith(ASSETS)) return missingAsset();
  if (files === undefined)
    return notePage(https, 'The console was not built', [
      'This api runs from sources of which no console was built.',
      'Run `npm run build` and start the api again.',
    ]);
  return pageReply(200, files.page, { https, policy: policyOf(brand) });
}

/** A file that the page loads. */
export function consoleAsset({ files, https }: ConsolePage, name: string): Reply {
  const asset = files?.assets.get(name);
  if (asset === undefined) return missingAsset();
  const headers = {
    ...closedPageHeaders({ https }),
    'content-type': asset.type,
    'content-security-policy': "default-src 'none'",
    'cache-control': `public, max-age=${YEAR_SECONDS}, immutable`,
  };
  return { type: 'text', status: 200, body: asset.text, headers };
}

/** The page of a deployment without a console. */
export function noConsolePage(https: boolean): Reply {
  return notePage(https, 'The console is not switched on', [
    'PARLEY_CONSOLE is not set for this api.',
    'Set it to `oidc`, or to `dev` on your own machine; docs/configuration.md says what else it needs.',
  ]);
}

function missingAsset(): Reply {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
  return { type: 'text', status: 404, body: 'There is no such file; load the page again.', headers };
}

function notePage(https: boolean, title: string, sentences: readonly string[]): Reply {
  const body = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<h1>${title}</h1>
${sentences.map((sentence) => html`<p>${sentence}</p>`)}
</html>
`;
  return pageReply(404, body.toString(), { https, policy: "default-src 'none'; frame-ancestors 'none'" });
}

interface PageProtection {
  readonly https: boolean;
  readonly policy: string;
}

function pageReply(status: number, body: string, { https, policy }: PageProtection): Reply {
  return {
    type: 'text',
    status,
    body,
    headers: {
      ...closedPageHeaders({ https }),
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    },
  };
}

/** The policy allows scripts and styles only from Parley's own files, and markup only from Lit templates. */
function policyOf({ logoUrl }: Brand): string {
  const logo = logoUrl === undefined ? '' : ` ${new URL(logoUrl).origin}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${logo}`,
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types lit-html 'allow-duplicates'",
  ].join('; ');
}

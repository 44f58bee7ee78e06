import type { Language } from '../../http/headers/language.ts';
import { type Html, html } from './html.ts';
import { type Icon, iconOf } from './icons.ts';
import { STYLE } from './style.ts';

/** A page's content, before it becomes a document. */
export interface Template {
  readonly status: number;
  /** Without elements: it is the document's title too. */
  readonly title: Html;
  /** The heading, where it differs from the title in markup. */
  readonly heading?: Html;
  readonly icon: Icon;
  readonly body: Html;
  /** Where the page goes by itself. */
  readonly refresh?: { readonly seconds: number; readonly url: string };
  /** The message to the page that opened this one, and the origins that may receive it. */
  readonly tell?: { readonly elicitationId: string; readonly origins: readonly string[] };
  /** Our own script of this page, the same text for everyone. */
  readonly script?: Html;
  /** The script calls our own origin. */
  readonly connects?: true;
  readonly retryAfterSeconds?: number;
}

/** What all pages of a deployment show at their top. */
export interface Brand {
  readonly title?: string;
  /** Of a picture, which says nothing that the title does not say. */
  readonly logoUrl?: string;
}

// The same text for everyone: what it tells, and whom, stands in its attributes.
const TELL = html`
const { id, origins } = document.currentScript.dataset;
if (window.opener) for (const origin of origins.split(' ')) window.opener.postMessage(id, origin);
`;

interface DocumentOptions {
  readonly language: Language;
  readonly nonce: string;
  readonly brand: Brand;
  /** True for a document without its style and its script. */
  readonly isUpdate: boolean;
}

/** The whole document. */
export function documentOf(
  template: Template,
  { language, nonce, brand, isUpdate }: DocumentOptions,
): string {
  const { refresh, tell } = template;
  const script = isUpdate ? undefined : template.script;
  const style = isUpdate ? undefined : html`<style nonce="${nonce}">${STYLE}</style>`;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${template.title}${brand.title === undefined ? undefined : html` · ${brand.title}`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh === undefined ? undefined : html`<meta http-equiv="refresh" content="${refresh.seconds}; url=${refresh.url}">\n`}${style}
</head>
<body>
${brandOf(brand)}<main>
${iconOf(template.icon)}
<h1>${template.heading ?? template.title}</h1>
${template.body}
</main>
${tell === undefined ? undefined : html`<script nonce="${nonce}" data-id="${tell.elicitationId}" data-origins="${tell.origins.join(' ')}">${TELL}</script>\n`}${script === undefined ? undefined : html`<script nonce="${nonce}">${script}</script>\n`}</body>
</html>
`.toString();
}

function brandOf({ title, logoUrl }: Brand): Html | undefined {
  if (title === undefined && logoUrl === undefined) return undefined;
  const logo = logoUrl === undefined ? undefined : html`<img src="${logoUrl}" alt="">`;
  return html`<header class="brand">${logo}${title === undefined ? undefined : html`<bdi>${title}</bdi>`}</header>\n`;
}

import type { Language } from '../../http/headers/language.ts';
import { type Html, html } from './html.ts';
import { type Icon, iconOf } from './icons.ts';
import { STYLE } from './style.ts';

/** A page's content, before it becomes a document. */
export interface Template {
  readonly status: number;
  /** The title without elements, because it is also the document's title. */
  readonly title: Html;
  /** The heading, if its markup differs from the title. */
  readonly heading?: Html;
  readonly icon: Icon;
  readonly body: Html;
  /** The address to which the page goes automatically. */
  readonly refresh?: { readonly seconds: number; readonly url: string };
  /** The message to the opener of the page, and the origins that may receive it. */
  readonly tell?: { readonly elicitationId: string; readonly origins: readonly string[] };
  /** The page's script, which is the same text for everyone. */
  readonly script?: Html;
  /** Present if the script calls Parley's own origin. */
  readonly connects?: true;
  readonly retryAfterSeconds?: number;
}

/** The title and logo at the top of all pages of a deployment. */
export interface Brand {
  readonly title?: string;
  /** The address of a picture that adds no information to the title. */
  readonly logoUrl?: string;
}

// The script is the same text for everyone. Its attributes contain the message and its receivers.
const TELL = html`
const { id, origins } = document.currentScript.dataset;
if (window.opener) for (const origin of origins.split(' ')) window.opener.postMessage(id, origin);
`;

interface DocumentOptions {
  readonly language: Language;
  readonly nonce: string;
  readonly brand: Brand;
  /** True for a document without style and script. */
  readonly isUpdate: boolean;
}

/** Builds the whole document. */
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

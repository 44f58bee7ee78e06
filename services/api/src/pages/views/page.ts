import type { Language } from '../../http/headers/language.ts';
import { headersOf } from '../kit/headers.ts';
import { type Brand, documentOf } from '../kit/layout.ts';
import { stringsOf } from './string-table.ts';
import { sheetOf } from './templates.ts';
import type { PageView } from './view.ts';

export interface PageOptions {
  readonly language: Language;
  /** Fresh for every page: at least 128 random bits in base64 or base64url. */
  readonly nonce: string;
  /** True when browsers reach this origin by https. Only then the page sends Strict-Transport-Security. */
  readonly https: boolean;
  /** True when the last page may notify the page that opened this one. Otherwise browsers separate the two. */
  readonly keepsOpener: boolean;
  /** @default nothing at the top */
  readonly brand?: Brand;
  /** True for a document that the script of an open page reads, which has its style and its script already. */
  readonly isUpdate?: boolean;
}

/** A page as it goes out. */
interface HtmlPage {
  readonly status: number;
  /** Lower-case names; everything but cookies and the length. */
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
}

/**
 * A view as a page: no input or output, the same for the same view and options. Forms post
 * `application/x-www-form-urlencoded` with the names in fields.ts to their action, and expect a page in return or a 303
 * to a path of this origin: browsers stop a post that is redirected elsewhere.
 *
 * Throws at what would mislead: a path that leaves this origin, or a `continue.url` that is not http(s), carries user
 * information or leads to another origin than `continue.origin`.
 */
export function renderPage(view: PageView, options: PageOptions): HtmlPage {
  const template = sheetOf(view, stringsOf(options.language));
  const { retryAfterSeconds } = template;
  const { language, nonce, https, keepsOpener, brand = {}, isUpdate = false } = options;
  const headers = headersOf({
    language,
    nonce,
    https,
    keepsOpener,
    ...(brand.logoUrl !== undefined && { imageOrigin: new URL(brand.logoUrl).origin }),
    connects: template.connects === true,
    script: template.tell !== undefined || template.script !== undefined,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
  return {
    status: template.status,
    headers,
    html: documentOf(template, { language, nonce, brand, isUpdate }),
  };
}

import type { Language } from '../../http/headers/language.ts';
import { headersOf } from '../kit/headers.ts';
import { type Brand, documentOf } from '../kit/layout.ts';
import { stringsOf } from './string-table.ts';
import { sheetOf } from './templates.ts';
import type { PageView } from './view.ts';

export interface PageOptions {
  readonly language: Language;
  /** A new random value for every page: at least 128 bits in base64 or base64url. */
  readonly nonce: string;
  /** True if browsers reach this origin by https. Only then does the page send Strict-Transport-Security. */
  readonly https: boolean;
  /** True if the last page may notify its opener. Otherwise browsers separate the two. */
  readonly keepsOpener: boolean;
  /** The title and logo at the top. @default none */
  readonly brand?: Brand;
  /** True for a document that is fetched by an open page's script, which already has style and script. */
  readonly isUpdate?: boolean;
}

/** The finished page. */
interface HtmlPage {
  readonly status: number;
  /** Names are in lower case. Cookies and the length are not included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
}

/**
 * Renders a view as a page. Pure: the same view and options give the same page. Forms post `application/x-www-form-urlencoded`
 * with the names in fields.ts to their action. They expect a page or a 303 to a path of this origin, because browsers block a
 * post that is redirected elsewhere.
 *
 * Throws for misleading input: a path that leaves this origin, or a `continue.url` that is not http(s), contains user
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

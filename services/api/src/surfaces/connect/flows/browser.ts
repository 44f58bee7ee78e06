import { createHash, createHmac, randomBytes } from 'node:crypto';
import type { RequestHead } from '../../../http/route.ts';
import { equalSecrets } from '../connectors/secret-text.ts';

/** One browser, by the opaque id in its cookie. The id is a bearer secret. */
export interface Browser {
  readonly id: string;
  /** True when the request had no cookie, so that the reply sets one. */
  readonly isNew: boolean;
}

const ID = /^[A-Za-z0-9_-]{43}$/;
const ID_BYTES = 32;

/** The name of a cookie without its prefix, and the path below which browsers send it. */
export interface CookiePlace {
  readonly name: string;
  readonly path: string;
}

/** How long a cookie stays, and which one it is for a request. */
export interface CookieKind {
  readonly maxAgeSeconds: number;
  placeOf(head: Pick<RequestHead, 'url'>): CookiePlace;
}

/** The browser of a person who connects accounts. It gets another id when a person signs in or out. */
export const CONNECT_COOKIE: CookieKind = {
  maxAgeSeconds: 3_600,
  placeOf: () => ({ name: 'parley-connect', path: '/' }),
};

/** The cookie of the hosted pages, and what follows from its value. */
export interface BrowserCookie {
  /** The browser of a request. One that sends no cookie of ours, or two, is new. */
  read(head: Pick<RequestHead, 'headers' | 'url'>): Browser;
  /** The `set-cookie` that gives the browser of a request its id. */
  header(id: string, head: Pick<RequestHead, 'url'>): string;
}

/** `https` is false only in development, where browsers would refuse the prefixes of names. */
export function createBrowserCookie(
  { https }: { readonly https: boolean },
  { maxAgeSeconds, placeOf }: CookieKind = CONNECT_COOKIE,
): BrowserCookie {
  function nameOf({ name, path }: CookiePlace): string {
    if (!https) return name;
    // Browsers take `__Host-` with the widest path only.
    return path === '/' ? `__Host-${name}` : `__Secure-${name}`;
  }
  return {
    read({ headers, url }) {
      const name = nameOf(placeOf({ url }));
      const values = (headers.cookie ?? '').split(';').flatMap((pair) => {
        const [key, value] = pair.trim().split('=', 2);
        return key === name && value !== undefined ? [value] : [];
      });
      const [id] = values;
      const known = values.length === 1 && id !== undefined && ID.test(id);
      return known ? { id, isNew: false } : { id: mintBrowserId(), isNew: true };
    },
    header(id, head) {
      const place = placeOf(head);
      const attributes = `Path=${place.path}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${https ? '; Secure' : ''}`;
      return `${nameOf(place)}=${id}; ${attributes}`;
    },
  };
}

/** 256 random bits. */
export function mintBrowserId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/**
 * The id of a browser that shows a secret: whoever knows its id before, such as from a cookie that they planted, does not
 * know this one. The same request sent twice leads to the same id.
 */
export function browserIdBy(secret: string, { id }: Pick<Browser, 'id'>): string {
  return createHmac('sha256', secret).update(`parley browser ${id}`).digest('base64url');
}

/**
 * The token of the forms that this browser is shown. It follows from the id, which no other origin can read, so that
 * showing a form writes nothing.
 */
export function csrfOf({ id }: Pick<Browser, 'id'>): string {
  return createHmac('sha256', id).update('parley connect form').digest('base64url');
}

/** True when the posted form was one of ours, shown to this browser. */
export function isOurForm(browser: Browser, given: string | undefined): boolean {
  return !browser.isNew && given !== undefined && equalSecrets(given, csrfOf(browser));
}

/** Identifies a browser in stored records. It is a hash, so it cannot be used as the browser's id. */
export function fingerprintOf({ id }: Pick<Browser, 'id'>): string {
  return createHash('sha256').update(`browser ${id}`).digest('base64url');
}

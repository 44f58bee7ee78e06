/** Identifies browsers by cookies, and makes their CSRF tokens. Who is signed in is stored by `sessions.ts`. */

import { createHmac, randomBytes } from 'node:crypto';
import { sha256 } from '@parley/shared/records/digest';
import { equalSecrets } from '../../accounts/oauth/secret-text.ts';
import type { RequestHead } from '../../http/route.ts';

/** One browser, by the opaque id in its cookie. The id is a bearer secret. */
export interface Browser {
  readonly id: string;
  /** True if the request had no cookie, so that the reply sets one. */
  readonly isNew: boolean;
}

const ID = /^[A-Za-z0-9_-]{43}$/;
const ID_BYTES = 32;

/** The name and lifetime of a kind of cookie. The name is without prefix. */
export interface CookieKind {
  readonly maxAgeSeconds: number;
  readonly name: string;
  /** The suffix of the name for this request; absent if all requests share one cookie. */
  suffixOf?(head: Pick<RequestHead, 'url'>): string;
}

/** The cookie of a browser whose person connects accounts. Its id changes when a person signs in or out. */
const CONNECT_COOKIE: CookieKind = {
  maxAgeSeconds: 3_600,
  name: 'parley-connect',
};

/**
 * The maximum number of cookies of one kind in a browser, which sends all of them with every request. Servers limit the size of
 * headers.
 */
const KEPT_MAX = 30;

/** The cookie of the hosted pages. */
export interface BrowserCookie {
  /** The browser of a request. A browser that sends no such cookie, or two, counts as new. */
  read(head: Pick<RequestHead, 'headers' | 'url'>): Browser;
  /** The `set-cookie` headers that give a browser its id, and remove the oldest cookies if there are too many. */
  headers(id: string, head: Pick<RequestHead, 'headers' | 'url'>): string[];
}

/** `https` is false only in development, where browsers would refuse the prefixes of names. */
export function createBrowserCookie(
  { https }: { readonly https: boolean },
  { maxAgeSeconds, name, suffixOf = () => '' }: CookieKind = CONNECT_COOKIE,
): BrowserCookie {
  // No other host of the site can set a cookie with this prefix. Browsers accept it only with the path `/`.
  const family = https ? `__Host-${name}` : name;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${https ? '; Secure' : ''}`;

  return {
    read({ headers, url }) {
      const own = family + suffixOf({ url });
      const values = cookiesIn(headers).flatMap(([key, value]) => (key === own ? [value] : []));
      const [id] = values;
      const known = values.length === 1 && id !== undefined && ID.test(id);
      return known ? { id, isNew: false } : { id: mintBrowserId(), isNew: true };
    },
    headers(id, { headers, url }) {
      const own = family + suffixOf({ url });
      const others = cookiesIn(headers).flatMap(([key]) =>
        key.startsWith(`${family}-`) && key !== own ? [key] : [],
      );
      // Browsers send the oldest cookies first.
      const surplus = others.slice(0, Math.max(0, others.length - (KEPT_MAX - 1)));
      return [
        `${own}=${id}; ${attributes}; Max-Age=${maxAgeSeconds}`,
        ...surplus.map((key) => `${key}=; ${attributes}; Max-Age=0`),
      ];
    },
  };
}

function cookiesIn({ cookie = '' }: RequestHead['headers']): [name: string, value: string][] {
  return cookie.split(';').flatMap((pair): [string, string][] => {
    const [name, value] = pair.trim().split('=', 2);
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
}

/** 256 random bits. */
export function mintBrowserId(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

/**
 * The new id of a browser that presents a secret. Somebody who knows the browser's old id, for example because they planted its
 * cookie, cannot know the new one. The same request leads to the same id.
 */
export function browserIdBy(secret: string, { id }: Pick<Browser, 'id'>): string {
  return createHmac('sha256', secret).update(`parley browser ${id}`).digest('base64url');
}

/**
 * The CSRF token for the forms shown to this browser. It is derived from the id, which no other origin can read, so showing a
 * form writes nothing.
 */
export function csrfOf({ id }: Pick<Browser, 'id'>): string {
  return createHmac('sha256', id).update('parley connect form').digest('base64url');
}

/** True if the posted form is one that Parley showed to this browser. */
export function isOurForm(browser: Browser, given: string | undefined): boolean {
  return !browser.isNew && given !== undefined && equalSecrets(given, csrfOf(browser));
}

/** Identifies a browser in stored records. It is a hash, so it cannot be used as the browser's id. */
export function fingerprintOf({ id }: Pick<Browser, 'id'>): string {
  return sha256(`browser ${id}`);
}

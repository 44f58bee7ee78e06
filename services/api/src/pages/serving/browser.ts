import { createHmac, randomBytes } from 'node:crypto';
import { sha256 } from '@parley/shared/records/digest';
import { equalSecrets } from '../../accounts/oauth/secret-text.ts';
import type { RequestHead } from '../../http/route.ts';

/** One browser, by the opaque id in its cookie. The id is a bearer secret. */
export interface Browser {
  readonly id: string;
  /** True when the request had no cookie, so that the reply sets one. */
  readonly isNew: boolean;
}

const ID = /^[A-Za-z0-9_-]{43}$/;
const ID_BYTES = 32;

/** How long a cookie stays, and which one it is for a request. Names are without their prefix. */
export interface CookieKind {
  readonly maxAgeSeconds: number;
  readonly name: string;
  /** What follows the name for this request; absent where all requests have one cookie. */
  suffixOf?(head: Pick<RequestHead, 'url'>): string;
}

/** The browser of a person who connects accounts. It gets another id when a person signs in or out. */
const CONNECT_COOKIE: CookieKind = {
  maxAgeSeconds: 3_600,
  name: 'parley-connect',
};

/** Cookies of one kind that a browser keeps: it sends all of them with every request, and servers bound its headers. */
const KEPT_MAX = 30;

/** The cookie of the hosted pages, and what follows from its value. */
export interface BrowserCookie {
  /** The browser of a request. One that sends no cookie of ours, or two, is new. */
  read(head: Pick<RequestHead, 'headers' | 'url'>): Browser;
  /** The `set-cookie` headers that give the browser of a request its id, and remove the oldest of too many cookies. */
  headers(id: string, head: Pick<RequestHead, 'headers' | 'url'>): string[];
}

/** `https` is false only in development, where browsers would refuse the prefixes of names. */
export function createBrowserCookie(
  { https }: { readonly https: boolean },
  { maxAgeSeconds, name, suffixOf = () => '' }: CookieKind = CONNECT_COOKIE,
): BrowserCookie {
  // No other host of the site can set a cookie with this prefix. Browsers take it with the widest path only.
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
      // Browsers send the oldest first.
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
 * The id of a browser that shows a secret: a person who knows its id before, such as from a cookie that they planted, does not
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
  return sha256(`browser ${id}`);
}

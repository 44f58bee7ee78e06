import { type UrlWarning, warningsOfUrl } from '@parley/core/domain/url';

/** Why a URL is never opened. */
export type AddressRefusal = 'not_a_url' | 'not_web' | 'too_long';

/** The parts of a URL as the card shows them. `before + host + after` is `href`, which is exactly what the browser opens. */
interface PageAddress {
  readonly kind: 'address';
  readonly href: string;
  readonly before: string;
  /** The host name without its port, shown in bold. It is in ASCII (Punycode), the form that browsers resolve. */
  readonly host: string;
  readonly after: string;
  readonly warnings: readonly UrlWarning[];
}

export type InspectedUrl = PageAddress | { readonly kind: 'refused'; readonly why: AddressRefusal };

export type { UrlWarning } from '@parley/core/domain/url';

const LENGTH_MAX = 2048;

/** Checks a URL before it is shown. Accepts any text, and opens and fetches nothing. */
export function inspectUrl(text: string): InspectedUrl {
  if (text.length > LENGTH_MAX) return refused('too_long');
  if (!URL.canParse(text)) return refused('not_a_url');
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) return refused('not_web');
  const { href, hostname: host, username, password } = url;
  const user = username + (password === '' ? '' : `:${password}`);
  const before = `${url.protocol}//${user === '' ? '' : `${user}@`}`;
  const after = href.slice(before.length + host.length);
  return { kind: 'address', href, before, host, after, warnings: warningsOfUrl(url) };
}

function refused(why: AddressRefusal): InspectedUrl {
  return { kind: 'refused', why };
}

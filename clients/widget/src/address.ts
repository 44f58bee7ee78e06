import { type UrlWarning, warningsOfUrl } from '@parley/shared/domain/url';

/** Why an address is not opened at all. */
export type AddressRefusal = 'not_a_url' | 'not_web' | 'too_long';

/** A URL made ready to be shown. `before + host + after` is `href`, exactly what the browser opens. */
export interface Address {
  readonly kind: 'address';
  readonly href: string;
  readonly before: string;
  /** The host name without its port: the part to highlight. Never raw Unicode, always as browsers resolve it. */
  readonly host: string;
  readonly after: string;
  readonly warnings: readonly UrlWarning[];
}

export type Look = Address | { readonly kind: 'refused'; readonly why: AddressRefusal };

export type { UrlWarning } from '@parley/shared/domain/url';

const LENGTH_MAX = 2048;

/** Looks at a URL before a person does. Opens and fetches nothing, and takes any text. */
export function lookAt(text: string): Look {
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

function refused(why: AddressRefusal): Look {
  return { kind: 'refused', why };
}

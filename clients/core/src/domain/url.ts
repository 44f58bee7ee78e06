/** Decides which URLs may be shown to a person. Parley never fetches them. */

const LENGTH_MAX = 2048;
// Exactly two slashes and no empty user, because browsers interpret other spellings differently in a page and in the address
// bar.
const PLAIN_FORM = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/iu;
/** The host names of this machine, as `URL` spells them. */
export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface UrlRules {
  /** Allows http on loopback hosts, for development. */
  readonly allowLoopbackHttp: boolean;
}

/** The fault of a URL that a person will open, or undefined. The URL is parsed as a browser does (WHATWG URL). */
export function faultOfUrl(text: string, rules: UrlRules): string | undefined {
  if (text.length > LENGTH_MAX) return `must be at most ${LENGTH_MAX} characters`;
  // A browser removes tabs and line breaks before parsing, so it would open another URL than the displayed one.
  if (/[^\u0021-\u007e]/u.test(text))
    return 'must be printable ASCII without blanks; percent-encode the rest';
  if (text.includes('\\')) return 'must not contain a backslash';
  if (!URL.canParse(text)) return 'must be an absolute URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not carry user information';
  const loopback = url.protocol === 'http:' && LOOPBACK_HOSTS.has(url.hostname);
  if (url.protocol !== 'https:' && !(loopback && rules.allowLoopbackHttp))
    return rules.allowLoopbackHttp ? 'must be https (http only on loopback)' : 'must be https';
  return PLAIN_FORM.test(text) ? undefined : 'must be written as https://host/path, without user information';
}

/** A reason to be careful before opening a URL. */
export type UrlWarning =
  /** The domain contains characters that can imitate others (Punycode). */
  | 'punycode'
  /** The host is an IP address, not a name. */
  | 'address'
  /** The port is not the default port of the scheme. */
  | 'port'
  | 'not_encrypted'
  /** The URL contains a user name or a password, which can be mistaken for the host. */
  | 'user_info';

/** Reasons to be careful before opening a URL, for a card that shows it. An empty list does not mean that the URL is safe. */
export function warningsOfUrl(url: URL): UrlWarning[] {
  // Traffic on loopback cannot be intercepted, and development uses unusual ports there.
  const isRemote = !LOOPBACK_HOSTS.has(url.hostname);
  const found: Record<UrlWarning, boolean> = {
    punycode: url.hostname.split('.').some((label) => label.startsWith('xn--')),
    address: /^\[|^\d+(\.\d+){3}$/u.test(url.hostname),
    port: isRemote && url.port !== '',
    not_encrypted: isRemote && url.protocol !== 'https:',
    user_info: url.username !== '' || url.password !== '',
  };
  return (Object.keys(found) as UrlWarning[]).filter((warning) => found[warning]);
}

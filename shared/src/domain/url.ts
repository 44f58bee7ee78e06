/** Which URLs may be shown to a person. Parley never fetches them. */

const LENGTH_MAX = 2048;
// Exactly two slashes and no empty user: anything else a browser reads differently on a page than on its own.
const PLAIN_FORM = /^https?:\/\/[^/?#@]+(?:[/?#]|$)/iu;
const LOOPBACK_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

export interface UrlRules {
  /** Allow http on loopback hosts, for development. */
  readonly allowLoopbackHttp: boolean;
}

/** What is wrong with a URL meant for a person's browser, or nothing. Parses as a browser does (WHATWG URL). */
export function faultOfUrl(text: string, rules: UrlRules): string | undefined {
  if (text.length > LENGTH_MAX) return `must be at most ${LENGTH_MAX} characters`;
  // A browser strips tabs and line breaks before it parses, so what is shown would not be what opens.
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

/** Why to look twice before opening a URL. */
export type UrlWarning =
  /** The domain has characters that can imitate others (Punycode). */
  | 'punycode'
  /** The host is an address, not a name. */
  | 'address'
  /** The port is not the scheme's own. */
  | 'port'
  | 'not_encrypted'
  /** It carries a user name or a password, which can look like the host. */
  | 'user_info';

/** Reasons to look twice before opening a URL, for a card that shows it. An empty list is not a promise. */
export function warningsOfUrl(url: URL): UrlWarning[] {
  // What stays on the machine is read by nobody on the way, and development has it on ports of its own.
  const leaves = !LOOPBACK_HOSTS.has(url.hostname);
  const found: Record<UrlWarning, boolean> = {
    punycode: url.hostname.split('.').some((label) => label.startsWith('xn--')),
    address: /^\[|^\d+(\.\d+){3}$/u.test(url.hostname),
    port: leaves && url.port !== '',
    not_encrypted: leaves && url.protocol !== 'https:',
    user_info: url.username !== '' || url.password !== '',
  };
  return (Object.keys(found) as UrlWarning[]).filter((warning) => found[warning]);
}

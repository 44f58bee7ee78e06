import type { Language } from '../../http/headers/language.ts';

interface HeaderFacts {
  readonly language: Language;
  readonly nonce: string;
  readonly https: boolean;
  /** True if the page contains a script. */
  readonly script: boolean;
  /** True if that script calls Parley's own origin. */
  readonly connects: boolean;
  /** True if the page notifies its opener at the end, for which browsers must keep the two connected. */
  readonly keepsOpener: boolean;
  /** The origin of the page's picture. */
  readonly imageOrigin?: string;
  readonly retryAfterSeconds?: number;
}

const NONCE = /^[A-Za-z0-9+/_-]{22,}={0,2}$/u;
const YEAR_SECONDS = 31_536_000;
const UNUSED = [
  'camera',
  'display-capture',
  'geolocation',
  'microphone',
  'payment',
  'publickey-credentials-get',
  'usb',
];

/**
 * Headers of a hosted page. They forbid loading anything but the logo, framing, caching and referrers, and allow forms to post
 * only to Parley. Throws if the nonce is too short or could break out of the policy.
 */
export function headersOf(facts: HeaderFacts): Readonly<Record<string, string>> {
  if (!NONCE.test(facts.nonce)) throw new Error('a nonce is at least 128 bits in base64');
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': facts.language,
    'content-security-policy': policyOf(facts),
    // With `no-referrer`, browsers would send `Origin: null` with the page's own posts.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': facts.keepsOpener ? 'unsafe-none' : 'same-origin',
    ...closedPageHeaders(facts),
    ...(facts.retryAfterSeconds !== undefined && { 'retry-after': String(facts.retryAfterSeconds) }),
  };
}

/** Headers of every page. They forbid framing, caching, indexing, type sniffing and the use of devices. */
export function closedPageHeaders({ https }: Pick<HeaderFacts, 'https'>): Readonly<Record<string, string>> {
  return {
    'x-frame-options': 'DENY',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
    'cache-control': 'no-store',
    'permissions-policy': UNUSED.map((feature) => `${feature}=()`).join(', '),
    ...(https && { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }),
  };
}

function policyOf({ nonce, script, connects, imageOrigin }: HeaderFacts): string {
  return [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    ...(script ? [`script-src 'nonce-${nonce}'`] : []),
    ...(connects ? ["connect-src 'self'"] : []),
    ...(imageOrigin === undefined ? [] : [`img-src ${imageOrigin}`]),
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    // Parley's scripts never convert text to markup, so no policy may do so.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

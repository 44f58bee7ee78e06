import type { Language } from '../../http/headers/language.ts';

interface HeaderFacts {
  readonly language: Language;
  readonly nonce: string;
  readonly https: boolean;
  /** Whether the page holds a script of ours. */
  readonly script: boolean;
  /** Whether that script calls our own origin. */
  readonly connects: boolean;
  /** Whether the page that opened this one is notified at the end, for which the two must stay connected. */
  readonly keepsOpener: boolean;
  /** Where the page's picture is loaded from. */
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
 * Headers of a hosted page: nothing but the logo is loaded, and nothing framed, cached or handed on, and forms post to us alone.
 * Throws when the nonce is short or could break out of the policy.
 */
export function headersOf(facts: HeaderFacts): Readonly<Record<string, string>> {
  if (!NONCE.test(facts.nonce)) throw new Error('a nonce is at least 128 bits in base64');
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-language': facts.language,
    'content-security-policy': policyOf(facts),
    // Not `no-referrer`: with that, browsers say `Origin: null` on our own posts.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': facts.keepsOpener ? 'unsafe-none' : 'same-origin',
    ...closedPageHeaders(facts),
    ...(facts.retryAfterSeconds !== undefined && { 'retry-after': String(facts.retryAfterSeconds) }),
  };
}

/** Headers of every page: it is not framed, cached or searched, nothing is guessed of it, and it needs no device. */
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
    // No script of ours makes mark-up of a text, so none has a policy to do so.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

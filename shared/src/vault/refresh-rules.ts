import type { OAuthCredential } from '../domain/credential.ts';
import type { OpenedCredential } from './vault.ts';

/** What to do with a credential before it is used. */
export type Verdict =
  | { readonly next: 'use' }
  /** Refresh it. With `valid`, it may still be used if the refresh fails. */
  | { readonly next: 'refresh'; readonly tokens: OAuthCredential; readonly valid: boolean }
  /** Obtain another one, which needs no person. With `valid`, the present one may still be used if that fails. */
  | { readonly next: 'obtain'; readonly valid: boolean }
  /** Only the person can make it work again, by connecting. */
  | { readonly next: 'reconnect' };

interface VerdictInput {
  readonly opened: OpenedCredential;
  /** The version that a provider refused. If that version is stored, it must not be used as it is. */
  readonly rejected: number | undefined;
  /** How long before its expiry a token counts as expired, in ms. */
  readonly skewMs: number;
  /** True for a credential that Parley obtains without a person. */
  readonly isObtained?: boolean;
}

/**
 * Decides what to do with a credential. A token with a lifetime below twice the skew is refreshed at half its lifetime;
 * otherwise every use would refresh it.
 */
export function judge({ opened, rejected, skewMs, isObtained = false }: VerdictInput): Verdict {
  const credential = opened.credential.reveal();
  const refused = opened.version === rejected;
  if (opened.state === 'reconnect_required')
    return isObtained ? { next: 'obtain', valid: false } : { next: 'reconnect' };
  if (credential.kind !== 'oauth2') return { next: refused ? 'reconnect' : 'use' };
  const { expiresAt = Number.POSITIVE_INFINITY, refreshToken } = credential;
  const valid = !refused && expiresAt > opened.now;
  const early = Math.min(skewMs, Math.max(0, (expiresAt - opened.savedAt) / 2));
  if (valid && expiresAt - early > opened.now) return { next: 'use' };
  if (isObtained) return { next: 'obtain', valid };
  if (refreshToken !== undefined) return { next: 'refresh', tokens: credential, valid };
  return { next: valid ? 'use' : 'reconnect' };
}

/** The refreshed tokens, with the values that a server omits because they are unchanged (RFC 6749, sections 5.1 and 6). */
export function mergeRefreshed(before: OAuthCredential, after: OAuthCredential): OAuthCredential {
  const refreshToken = after.refreshToken ?? before.refreshToken;
  const scope = after.scope ?? before.scope;
  const proofKey = after.proofKey ?? before.proofKey;
  return {
    ...after,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(scope !== undefined && { scope }),
    ...(proofKey !== undefined && { proofKey }),
  };
}

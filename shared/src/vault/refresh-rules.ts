import type { OAuthCredential } from '../domain/credential.ts';
import type { HeldCredential } from './vault.ts';

/** What is to be done about a credential that somebody wants to use. */
export type Verdict =
  | { readonly next: 'use' }
  /** Has to be refreshed, and can be. `valid`: it may be used as it is should that fail. */
  | { readonly next: 'refresh'; readonly tokens: OAuthCredential; readonly valid: boolean }
  /** Nothing will make it work again but the person. */
  | { readonly next: 'reconnect' };

export interface VerdictInput {
  readonly held: HeldCredential;
  /** The version that a provider refused; the one held is then of no use as it is. */
  readonly rejected: number | undefined;
  /** This process's clock, in ms. */
  readonly now: number;
  /** How long before its end a token counts as ended, in ms. */
  readonly skewMs: number;
}

/**
 * Judges a credential. A token that the server gave less than twice the skew to live is refreshed at half its life
 * instead, or every use of it would refresh it.
 */
export function judge({ held, rejected, now, skewMs }: VerdictInput): Verdict {
  const credential = held.credential.reveal();
  const refused = held.version === rejected;
  if (held.state === 'reconnect_required') return { next: 'reconnect' };
  if (credential.kind !== 'oauth2') return { next: refused ? 'reconnect' : 'use' };
  const { expiresAt = Number.POSITIVE_INFINITY, refreshToken } = credential;
  const valid = !refused && expiresAt > now;
  const early = Math.min(skewMs, Math.max(0, (expiresAt - held.savedAt) / 2));
  if (valid && expiresAt - early > now) return { next: 'use' };
  if (refreshToken !== undefined) return { next: 'refresh', tokens: credential, valid };
  return { next: valid ? 'use' : 'reconnect' };
}

/** The refreshed tokens, with what a server leaves out because it stays (RFC 6749, sections 5.1 and 6). */
export function mergeRefreshed(before: OAuthCredential, after: OAuthCredential): OAuthCredential {
  const refreshToken = after.refreshToken ?? before.refreshToken;
  const scope = after.scope ?? before.scope;
  return {
    ...after,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(scope !== undefined && { scope }),
  };
}

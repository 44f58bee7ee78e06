import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import type { Claims } from '../../ports/elicitations/claims.ts';

/** Which user a chosen stream request belongs to. */
export interface StreamClaims {
  /**
   * Makes the stream request the user's, for longer than any question on it is stored. True when this took a claim, which
   * the commit of the question lists for erasures; false when the claim is remembered. Throws `stream_owner_mismatch`.
   */
  claim(stream: StreamRef): Promise<boolean>;
  /** Remembers a claim that is listed. */
  remember(stream: StreamRef): void;
  /** Ends the claim, if it is this user's. */
  drop(stream: StreamRef): Promise<void>;
}

// An erased user is fenced for longer: when that ends, no pod relies on a claim that the erasure has dropped.
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;

/** Claims in the store. A pod remembers for a minute those of its questions, since many streams get several. */
export function createStreamClaims(claims: Claims, retentionMs: number): StreamClaims {
  const remembered = new Map<string, { readonly userId: string; readonly until: number }>();
  // The claim may have been taken a while before the commit, from which it is remembered.
  const ttlMs = retentionMs + TIMEOUT_SECONDS_MAX * 1000 + 2 * REMEMBERED_MS;

  return {
    async claim({ tenant, userId, streamRequestId }) {
      const known = remembered.get(keyOf(tenant, streamRequestId));
      if (known?.userId === userId && performance.now() < known.until) return false;
      const holder = await claims.claim({ family: 'stream', tenant, name: streamRequestId }, userId, ttlMs);
      if (holder === userId) return true;
      throw new ParleyError(
        'stream_owner_mismatch',
        'This stream request belongs to another user; choose another id.',
      );
    },
    remember({ tenant, userId, streamRequestId }) {
      const key = keyOf(tenant, streamRequestId);
      remembered.delete(key);
      remembered.set(key, { userId, until: performance.now() + REMEMBERED_MS });
      const [oldest] = remembered.keys();
      if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    },
    async drop({ tenant, userId, streamRequestId }) {
      remembered.delete(keyOf(tenant, streamRequestId));
      await claims.drop({ family: 'stream', tenant, name: streamRequestId }, userId);
    },
  };
}

function keyOf(tenant: string, streamRequestId: string): string {
  return `${tenant}\u0000${streamRequestId}`;
}

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import type { Claims } from '../../ports/elicitations/claims.ts';

/** Which user owns a stream request whose id the asker chose. */
export interface StreamClaims {
  /**
   * Claims the stream request for the user, for longer than any question on it is stored. Returns true when a claim was
   * written; the commit of the question then lists it for erasures. Returns false when this pod remembers the claim. Throws
   * `stream_owner_mismatch`.
   */
  claim(stream: StreamRef): Promise<boolean>;
  /** Remembers a claim on this pod, after a commit has listed it. */
  remember(stream: StreamRef): void;
  /** Removes the claim if this user holds it. */
  drop(stream: StreamRef): Promise<void>;
}

// An erased user is fenced for longer than this, so no pod still remembers a removed claim when the fence ends.
const REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;

/** Stores claims. A pod remembers its recent claims for a minute, because many streams get several questions. */
export function createStreamClaims(claims: Claims, retentionMs: number): StreamClaims {
  const remembered = new Map<string, { readonly userId: string; readonly until: number }>();
  // A pod remembers the claim from the commit on, which may be later than the claim; the life of the claim includes both times.
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

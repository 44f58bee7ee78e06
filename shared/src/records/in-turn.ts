import { isParleyError } from '@parley/core/domain/errors';
import type { Claims } from '../ports/elicitations/claims.ts';

/** One of several processes that do the same work periodically. */
export interface Turn {
  /** The unique name of this process. */
  readonly holder: string;
  /** How often each process would do the work, in ms. */
  readonly everyMs: number;
}

/**
 * Does the work unless another process has started it since the last round, so that a hundred processes do not repeat it. If a
 * process dies during its turn, another one takes the next round. Undefined when it was not this process's turn.
 */
export async function inTurn<T>(
  claims: Pick<Claims, 'claim'>,
  work: string,
  { holder, everyMs }: Turn,
  round: () => Promise<T>,
): Promise<T | undefined> {
  const name = { family: 'sweep', tenant: '', name: work } as const;
  const turn = await claims.claim(name, holder, Math.ceil(0.75 * everyMs)).catch((error: unknown) => {
    // On a Cluster, the server of the claim may be unavailable. The work on the other servers is then done without a claim.
    if (isParleyError(error, 'unavailable')) return holder;
    throw error;
  });
  return turn === holder ? round() : undefined;
}

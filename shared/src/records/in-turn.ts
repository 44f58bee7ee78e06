import { isParleyError } from '@parley/core/domain/errors';
import type { Claims } from '../ports/elicitations/claims.ts';

/** One process of several that do the same work periodically. */
export interface Turn {
  /** Name of this process; unique. */
  readonly holder: string;
  /** How often each process would do the work, in ms. */
  readonly everyMs: number;
}

/**
 * Works unless another process has begun to since the last round, so that a hundred processes do not repeat the same work. A
 * process that dies in its turn is replaced in the next round. Undefined when it was not this process's turn.
 */
export async function inTurn<T>(
  claims: Pick<Claims, 'claim'>,
  work: string,
  { holder, everyMs }: Turn,
  round: () => Promise<T>,
): Promise<T | undefined> {
  const name = { family: 'sweep', tenant: '', name: work } as const;
  const turn = await claims.claim(name, holder, Math.ceil(0.75 * everyMs)).catch((error: unknown) => {
    // On a Cluster the server of the claim may be unavailable; the work on the other servers is done all the same.
    if (isParleyError(error, 'unavailable')) return holder;
    throw error;
  });
  return turn === holder ? round() : undefined;
}

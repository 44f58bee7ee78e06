import { ParleyError } from '@parley/core/domain/errors';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createBufferedTurn, type Failed, type Finished } from './buffered.ts';
import { followTurn } from './follow.ts';
import { podDraining, type StartedTurn } from './start.ts';
import type { Turns } from './turns.ts';

/** A finished turn, independent of any wire format. */
export interface WholeTurn extends Pick<Finished, 'reason' | 'usage'> {
  readonly messageId: string;
  /** The assistant's text, with its blocks as paragraphs. */
  readonly text: string;
}

/** The call of a surface that waits for a turn. */
interface Waiting {
  readonly signal: AbortSignal;
  readonly draining: boolean;
}

/** Waits for a turn to finish. Throws `unavailable` and `internal` if it ends in another way. */
export async function readWholeTurn(
  deps: { readonly engine: Pick<Engine, 'watchLive'>; readonly turns: Pick<Turns, 'attend'> },
  { run, isRepeatable }: StartedTurn,
  call: Waiting,
): Promise<WholeTurn> {
  const turn = createBufferedTurn();
  try {
    for await (const event of await followTurn(deps, run, { signal: call.signal })) {
      if (turn.take(event)) break;
    }
  } catch (error) {
    throw call.draining ? podDraining() : error;
  }
  const { outcome } = turn;
  if (outcome?.type !== 'turn-finished') throw failureOf(outcome, isRepeatable);
  const { reason, usage } = outcome;
  return { messageId: turn.message().id, text: turn.text(), reason, usage };
}

// Codes of temporary failures: the same message may succeed when it is sent again.
const PASSING_CODES: readonly string[] = ['interrupted', 'lost', 'model_unavailable'];

/** The error for a call whose turn failed. It keeps clients from automatically retrying what would fail again. */
function failureOf(failed: Failed | undefined, isRepeatable: boolean): ParleyError {
  const { code, message } = failed ?? { code: 'lost', message: 'The turn was lost; please ask again.' };
  // With a key, a failed turn stays failed when the request is repeated. A turn that was only lost from view may still run.
  return failed === undefined || (PASSING_CODES.includes(code) && !isRepeatable)
    ? new ParleyError('unavailable', message, { retryAfterSeconds: 1 })
    : new ParleyError('internal', message, { retry: false });
}

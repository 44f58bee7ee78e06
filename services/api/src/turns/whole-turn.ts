import { ParleyError } from '@parley/core/domain/errors';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createBufferedTurn, type Failed, type Finished } from './buffered.ts';
import { followTurn } from './follow.ts';
import { podDraining, type StartedTurn } from './start.ts';
import type { Turns } from './turns.ts';

/** A turn that ended well, in no wire format. */
export interface WholeTurn extends Pick<Finished, 'reason' | 'usage'> {
  readonly messageId: string;
  /** The assistant's text, its blocks as paragraphs. */
  readonly text: string;
}

/** Who waits for a turn: a call of a surface. */
interface Waiting {
  readonly signal: AbortSignal;
  readonly draining: boolean;
}

/** Waits for a turn to end. Throws `unavailable` and `internal` for one that did not end well. */
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

// Codes of failures that may pass: the same message, sent again, can end well.
const PASSING_CODES: readonly string[] = ['interrupted', 'lost', 'model_unavailable'];

/** A failed turn as the error of its call. A client must not retry by itself what would fail again. */
function failureOf(failed: Failed | undefined, isRepeatable: boolean): ParleyError {
  const { code, message } = failed ?? { code: 'lost', message: 'The turn was lost; please ask again.' };
  // Under its key, a turn that has failed stays failed; one that was only lost from view may still run.
  return failed === undefined || (PASSING_CODES.includes(code) && !isRepeatable)
    ? new ParleyError('unavailable', message, { retryAfterSeconds: 1 })
    : new ParleyError('internal', message, { retry: false });
}

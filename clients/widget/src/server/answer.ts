import type { Elicitation } from '../elicitation.ts';
import type { Calls } from './calls.ts';
import { createPauses, pause } from './pauses.ts';
import { pathOf } from './polling.ts';
import { Refusal } from './refusal.ts';
import { newResponseId } from './response-id.ts';
import type { Answer } from './type.ts';

const TRIES = 4;
/** Browsers refuse to keep more than 64 KiB in flight for pages that are gone. */
const KEEPALIVE_BYTES_MAX = 32 * 1024;

/**
 * Sends an answer, and sends it again while nobody knows whether it arrived. It carries one responseId all the way,
 * so that it counts once; it outlives the page where the browser allows.
 */
export async function sendAnswer(
  calls: Calls,
  elicitationId: string,
  { action, content, responseId = newResponseId() }: Answer,
  retryMs: readonly [first: number, longest: number],
): Promise<Elicitation> {
  const body = JSON.stringify({ action, ...(content !== undefined && { content }), responseId });
  const keepalive = new TextEncoder().encode(body).length <= KEEPALIVE_BYTES_MAX;
  const call = { path: `${pathOf(elicitationId)}/response`, body, keepalive };
  const pauses = createPauses(retryMs);
  // A press is never taken back by leaving the page or closing the server object.
  const { signal } = new AbortController();
  for (let tries = 1; ; tries += 1) {
    try {
      return await calls.elicitation(call, signal);
    } catch (error) {
      if (!isPassing(error) || tries === TRIES) throw error;
      await pause(pauses.next(error.retryAfterSeconds), signal);
    }
  }
}

/** No reply, or one that says nothing about the answer. */
function isPassing(error: unknown): error is Refusal {
  return error instanceof Refusal && (error.code === 'offline' || error.status >= 500);
}

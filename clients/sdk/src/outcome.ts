/**
 * Waits for the outcome of a question, through outages and restarts. Asking is in `client.ts`, and the outcomes of an elicitor
 * are in `elicit/outcome.ts`.
 */

import {
  createBackoff,
  elicitationPath,
  isTransient,
  ParleyClientError,
  parseElicitation,
  sleep,
  type Transport,
} from '@parley/core';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { FormContent } from '@parley/core/domain/forms/answer';

/** How a question ended. Only `accepted` is consent; the other four never are. */
export type Outcome<Content = FormContent | undefined> =
  | { readonly status: 'accepted'; readonly content: Content; readonly elicitation: Elicitation }
  /** The person refused. */
  | { readonly status: 'declined'; readonly elicitation: Elicitation }
  /** The person dismissed the question without a choice. */
  | { readonly status: 'cancelled'; readonly elicitation: Elicitation }
  /** The deadline passed without an answer. */
  | { readonly status: 'expired'; readonly elicitation: Elicitation }
  /** The asker withdrew the question. */
  | { readonly status: 'withdrawn'; readonly reason: string; readonly elicitation: Elicitation };

/** A draining pod ends a long poll early; a reply within this time, in ms, counts as such an end. */
const EARLY_REPLY_MS = 500;
/** The time limit of the last read, after the deadline, in ms. */
const LAST_READ_MS = 2_000;

/**
 * Long-polls until the elicitation is terminal, through lost connections, outages and restarts. Rejects with
 * `unavailable` when the outcome cannot be read by the deadline plus `graceMs`.
 */
export async function waitForOutcome(
  transport: Transport,
  first: Elicitation,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const { retry } = transport;
  const path = elicitationPath(first.elicitationId, '/wait');
  const giveUpAfter = (one: Elicitation) => performance.now() + timeToDeadlineMs(one) + retry.graceMs;
  let giveUpAt = giveUpAfter(first);
  let deadline = first.expiresAt;
  const backoff = createBackoff(retry);

  const poll = async (remainingMs: number) => {
    const pollSeconds = Math.min(retry.pollSeconds, Math.max(Math.ceil(remainingMs / 1_000), 0));
    const attemptMs =
      remainingMs > 0 ? Math.min(remainingMs, pollSeconds * 1_000 + retry.attemptMs) : LAST_READ_MS;
    const query = { timeoutSeconds: String(pollSeconds) };
    return parseElicitation(await transport.attempt({ method: 'GET', path, query, signal }, attemptMs));
  };

  let latest = first;
  for (;;) {
    if (isTerminal(latest.status)) return toOutcome(latest);
    const startedAt = performance.now();
    const remainingMs = giveUpAt - startedAt;
    let failure: unknown;
    let delayMs = 0;
    try {
      latest = await poll(remainingMs);
      // An operator may have moved the deadline.
      if (latest.expiresAt !== deadline) giveUpAt = giveUpAfter(latest);
      deadline = latest.expiresAt;
      if (performance.now() - startedAt < EARLY_REPLY_MS) delayMs = backoff.nextDelayMs();
      else backoff.reset();
    } catch (error) {
      if (!isTransient(error)) throw error;
      failure = error;
      delayMs = backoff.nextDelayMs(error.retryAfterSeconds);
    }
    if (isTerminal(latest.status)) continue;
    if (remainingMs <= 0 && performance.now() >= giveUpAt) throw unknownOutcome(first, failure);
    await sleep(Math.max(Math.min(delayMs, giveUpAt - performance.now()), 0), signal);
  }
}

/** Only the server's clock is used, because the local one may be wrong. */
function timeToDeadlineMs({ expiresAt, serverTime }: Elicitation): number {
  return Math.max(Date.parse(expiresAt) - Date.parse(serverTime), 0);
}

function toOutcome(elicitation: Elicitation): Outcome {
  const { status, mode, content } = elicitation;
  switch (status) {
    case 'accepted':
      return { status, content: mode === 'form' ? (content ?? {}) : undefined, elicitation };
    case 'declined':
    case 'cancelled':
    case 'expired':
      return { status, elicitation };
    case 'withdrawn':
      return { status, reason: elicitation.reason ?? 'withdrawn_by_asker', elicitation };
    default:
      // The status comes from a newer server and must never count as an acceptance.
      throw new ParleyClientError(
        'internal',
        'The elicitation ended with a status that this client does not know.',
      );
  }
}

function unknownOutcome({ elicitationId }: Elicitation, cause: unknown): ParleyClientError {
  return new ParleyClientError(
    'unavailable',
    `The deadline of ${elicitationId} passed and its outcome could not be read; call outcomeOf to read it later.`,
    { cause },
  );
}

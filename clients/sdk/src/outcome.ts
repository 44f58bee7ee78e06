import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import type { FormContent } from '@parley/shared/domain/forms/answer';
import { isPassing, ParleyClientError } from './errors.ts';
import { elicitationIn } from './reply.ts';
import { createBackoff, type RetrySettings, sleep } from './retry.ts';
import { segmentOf, type Transport } from './transport.ts';

/** How a question ended. Only `accepted` is a yes; the other four are never to be taken for one. */
export type Outcome<Content = FormContent | undefined> =
  | { readonly status: 'accepted'; readonly content: Content; readonly elicitation: Elicitation }
  /** An explicit no. */
  | { readonly status: 'declined'; readonly elicitation: Elicitation }
  /** Dismissed without a choice. */
  | { readonly status: 'cancelled'; readonly elicitation: Elicitation }
  /** Nobody answered in time. */
  | { readonly status: 'expired'; readonly elicitation: Elicitation }
  /** The asker took it back. */
  | { readonly status: 'withdrawn'; readonly reason: string; readonly elicitation: Elicitation };

export interface WaitDeps {
  readonly transport: Transport;
  readonly retry: RetrySettings;
}

/** A reply that comes sooner than this although nothing ended is a draining pod's. */
const SOON_MS = 500;
/** The look that a waiter takes when its time is over: it may have slept through the answer. */
const LAST_LOOK_MS = 2_000;

/**
 * Long-polls until the elicitation is terminal, through lost connections, outages and restarts. Rejects with
 * `unavailable` when there is no outcome to be had by the deadline plus `graceMs`.
 */
export async function outcomeOf(
  { transport, retry }: WaitDeps,
  first: Elicitation,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const path = `/v1/elicitations/${segmentOf(first.elicitationId)}/wait`;
  const giveUpAt = performance.now() + leftMsOf(first) + retry.graceMs;
  const backoff = createBackoff(retry);

  const look = async (leftMs: number) => {
    const pollSeconds = Math.min(retry.pollSeconds, Math.max(Math.ceil(leftMs / 1_000), 0));
    const attemptMs = leftMs > 0 ? Math.min(leftMs, pollSeconds * 1_000 + retry.attemptMs) : LAST_LOOK_MS;
    const query = { timeoutSeconds: String(pollSeconds) };
    return elicitationIn(await transport.attempt({ method: 'GET', path, query, signal }, attemptMs));
  };

  let seen = first;
  for (;;) {
    if (isTerminal(seen.status)) return ended(seen);
    const startedAt = performance.now();
    const leftMs = giveUpAt - startedAt;
    let failure: unknown;
    let delayMs = 0;
    try {
      seen = await look(leftMs);
      if (performance.now() - startedAt < SOON_MS) delayMs = backoff.next();
      else backoff.reset();
    } catch (error) {
      if (!isPassing(error)) throw error;
      failure = error;
      delayMs = backoff.next(error.retryAfterSeconds);
    }
    if (isTerminal(seen.status)) continue;
    if (leftMs <= 0) throw unknownOutcome(first, failure);
    await sleep(Math.max(Math.min(delayMs, giveUpAt - performance.now()), 0), signal);
  }
}

/** By the server's clock alone: ours may be wrong. */
function leftMsOf({ expiresAt, serverTime }: Elicitation): number {
  return Math.max(Date.parse(expiresAt) - Date.parse(serverTime), 0);
}

function ended(elicitation: Elicitation): Outcome {
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
      // A status of a later server: never guessed at, least of all as a yes.
      throw new ParleyClientError('internal', 'The elicitation ended in a way this client does not know.');
  }
}

function unknownOutcome({ elicitationId }: Elicitation, cause: unknown): ParleyClientError {
  return new ParleyClientError(
    'unavailable',
    `The deadline of ${elicitationId} passed and its outcome could not be read; ask for it with outcomeOf.`,
    { cause },
  );
}

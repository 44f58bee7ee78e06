import type { WebhookFault } from '../../domain/webhooks/webhook.ts';

/**
 * `delivered`: the receiver has it. `again`: failed, to be tried again. `dead`: failed for good, now in the list of dead
 * letters. `dropped`: there is nothing to deliver.
 */
export const WEBHOOK_OUTCOMES = ['delivered', 'again', 'dead', 'dropped'] as const;
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

/** One attempt, without its URL and body. */
export interface WebhookAttempt {
  readonly elicitationId: string;
  readonly outcome: WebhookOutcome;
  /** The first is 1. */
  readonly attempt: number;
  readonly tenant?: string;
  readonly fault?: WebhookFault;
  /** HTTP status of the reply, if there was one. */
  readonly status?: number;
  /** Time until the next attempt, in ms. */
  readonly retryInMs?: number;
}

/** Called for every attempt at a webhook, for logs and metrics. Never throws. */
export interface WebhookObserver {
  attempted(attempt: WebhookAttempt): void;
}

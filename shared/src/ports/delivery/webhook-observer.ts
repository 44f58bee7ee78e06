import type { WebhookFault } from '../../domain/webhooks/webhook.ts';

/**
 * `delivered`: the receiver accepted it. `again`: the attempt failed and will be repeated. `dead`: the last attempt
 * failed, and the webhook is now a dead letter. `dropped`: there is nothing to deliver.
 */
export const WEBHOOK_OUTCOMES = ['delivered', 'again', 'dead', 'dropped'] as const;
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

/** An attempt to deliver a webhook, without its URL and body. */
export interface WebhookAttempt {
  readonly elicitationId: string;
  readonly outcome: WebhookOutcome;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly tenant?: string;
  readonly fault?: WebhookFault;
  /** HTTP status of the reply, if there was one. */
  readonly status?: number;
  /** Time until the next attempt, in ms. */
  readonly retryInMs?: number;
}

/** Called for every attempt to deliver a webhook, for logs and metrics. Never throws. */
export interface WebhookObserver {
  attempted(attempt: WebhookAttempt): void;
}

import type { WebhookFault } from '../../domain/webhooks/webhook.ts';

/**
 * `delivered`: the receiver has it. `again`: failed, to be tried again. `dead`: failed for good, now in the list of dead
 * letters. `dropped`: there is nothing to deliver.
 */
export const WEBHOOK_OUTCOMES = ['delivered', 'again', 'dead', 'dropped'] as const;
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

/** One attempt, as it may be told: neither URL nor what was sent. */
export interface WebhookAttempt {
  readonly elicitationId: string;
  readonly outcome: WebhookOutcome;
  /** The first is 1. */
  readonly attempt: number;
  readonly tenant?: string;
  readonly fault?: WebhookFault;
  /** What the receiver replied with, if it did. */
  readonly status?: number;
  /** When it is tried again. */
  readonly retryInMs?: number;
}

/** Told of every attempt at a webhook: logs and metrics hang here. Never throws. */
export interface WebhookObserver {
  attempted(attempt: WebhookAttempt): void;
}

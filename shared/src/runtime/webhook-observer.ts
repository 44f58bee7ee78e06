import type { WebhookObserver, WebhookOutcome } from '../ports/delivery/webhook-observer.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface WebhookObserverDeps {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'webhookDeliveries'>;
}

const WORDS: Readonly<Record<WebhookOutcome, string>> = {
  delivered: 'webhook delivered',
  again: 'webhook failed, tried again later',
  dead: 'webhook failed for good, see the dead letters',
  dropped: 'webhook lost: its elicitation left before it was delivered',
};

/** Counts the attempts at webhooks and writes a line for each. */
export function createWebhookObserver({ log, metrics }: WebhookObserverDeps): WebhookObserver {
  return {
    attempted(attempt) {
      const { outcome } = attempt;
      metrics.webhookDeliveries.add(1, { outcome });
      if (outcome === 'dead' || outcome === 'dropped') log.warn(attempt, WORDS[outcome]);
      else log.info(attempt, WORDS[outcome]);
    },
  };
}

import type { WebhookObserver, WebhookOutcome } from '../ports/delivery/webhook-observer.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

interface WebhookObserverDeps {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'webhookDeliveries'>;
}

const MESSAGES: Readonly<Record<WebhookOutcome, string>> = {
  delivered: 'webhook delivered',
  again: 'webhook failed, will be retried',
  dead: 'webhook failed permanently, see the dead letters',
  dropped: 'webhook dropped: its elicitation was removed before delivery',
};

/** Counts webhook attempts and logs a line for each. */
export function createWebhookObserver({ log, metrics }: WebhookObserverDeps): WebhookObserver {
  return {
    attempted(attempt) {
      const { outcome } = attempt;
      metrics.webhookDeliveries.add(1, { outcome });
      if (outcome === 'dead' || outcome === 'dropped') log.warn(attempt, MESSAGES[outcome]);
      else log.info(attempt, MESSAGES[outcome]);
    },
  };
}

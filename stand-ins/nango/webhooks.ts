import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** A webhook that was sent, or suppressed. */
export interface SentWebhook {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface WebhookSender {
  /** All webhooks so far, including lost ones. */
  readonly sent: readonly SentWebhook[];
  /** Signs the body and delivers it in the background, unless webhooks are being lost. */
  send(body: object): void;
  /** Sets whether further webhooks get lost. */
  lose(lost: boolean): void;
  /** Waits for current deliveries. */
  settle(): Promise<void>;
}

const RETRY_DELAYS_MS = [100, 200];

/** Signs webhooks as Nango does: HMAC-SHA256 over the raw body. After two more tries, a webhook is lost. */
export function createWebhookSender(signingKey: string, url: () => string | undefined): WebhookSender {
  const sent: SentWebhook[] = [];
  const underWay = new Set<Promise<void>>();
  let losing = false;

  return {
    sent,
    lose: (lost) => {
      losing = lost;
    },
    send(content) {
      const body = JSON.stringify(content);
      const signature = createHmac('sha256', signingKey).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', 'x-nango-hmac-sha256': signature };
      sent.push({ body, headers });
      const target = url();
      if (losing || target === undefined) return;
      const delivery = deliver(target, { body, headers }).finally(() => underWay.delete(delivery));
      underWay.add(delivery);
    },
    async settle() {
      await Promise.all(underWay);
    },
  };
}

async function deliver(url: string, { body, headers }: SentWebhook): Promise<void> {
  for (const delayMs of [0, ...RETRY_DELAYS_MS]) {
    if (delayMs > 0) await sleep(delayMs);
    const init = { method: 'POST', body, headers, signal: AbortSignal.timeout(5_000) };
    const response = await fetch(url, init).catch(() => undefined);
    if (response?.ok === true) return;
  }
}

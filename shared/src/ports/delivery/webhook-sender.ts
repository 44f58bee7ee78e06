import type { WebhookFault } from '../../domain/webhooks/webhook.ts';

export interface WebhookRequest {
  readonly url: string;
  /** The id of the webhook, the same in every attempt. */
  readonly webhookId: string;
  /** The JSON text that is signed and sent. */
  readonly body: string;
  /** The secrets, each of which signs the body. Never empty. */
  readonly secrets: readonly Uint8Array[];
  /** The store's clock in ms. It becomes the timestamp that receivers compare with their own clock. */
  readonly now: number;
}

export type WebhookReply =
  | {
      readonly type: 'replied';
      readonly status: number;
      /** The pause that a valid `Retry-After` requests. */
      readonly retryAfterMs?: number;
    }
  | { readonly type: 'failed'; readonly fault: WebhookFault };

/** Makes one attempt: signs the body and posts it. Never rejects, and never follows a redirect. */
export type SendWebhook = (request: WebhookRequest) => Promise<WebhookReply>;

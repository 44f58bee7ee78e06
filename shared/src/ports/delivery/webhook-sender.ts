import type { WebhookFault } from '../../domain/webhooks/webhook.ts';

export interface WebhookRequest {
  readonly url: string;
  /** The same for every attempt to deliver the webhook. */
  readonly webhookId: string;
  /** JSON, signed and sent as it is. */
  readonly body: string;
  /** The body is signed with each of them. Never empty. */
  readonly secrets: readonly Uint8Array[];
  /** Ms on the store's clock. Becomes the timestamp that receivers compare with their own clock. */
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

/** Makes one attempt: signs and posts. Never rejects, and never follows a redirect. */
export type SendWebhook = (request: WebhookRequest) => Promise<WebhookReply>;

import type { WebhookFault } from '../../domain/webhooks/webhook.ts';

export interface WebhookRequest {
  readonly url: string;
  /** The same for every attempt at the same webhook. */
  readonly webhookId: string;
  /** JSON; what is signed is what is sent. */
  readonly body: string;
  /** Each of them signs. Never empty. */
  readonly secrets: readonly Uint8Array[];
  /** Ms on the store's clock; becomes the timestamp that receivers hold against their own. */
  readonly now: number;
}

export type WebhookReply =
  | {
      readonly type: 'replied';
      readonly status: number;
      /** What `Retry-After` asks for, when it is there and well formed. */
      readonly retryAfterMs?: number;
    }
  | { readonly type: 'failed'; readonly fault: WebhookFault };

/** One attempt: signs, posts and says what came of it. Never rejects, and never follows a redirect. */
export type SendWebhook = (request: WebhookRequest) => Promise<WebhookReply>;

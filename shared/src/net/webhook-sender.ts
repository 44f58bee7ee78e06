import type { GuardedReply } from '../ports/delivery/guarded-fetch.ts';
import type { SendWebhook, WebhookReply, WebhookRequest } from '../ports/delivery/webhook-sender.ts';
import { createGuardedFetch, GuardedFetchError, type GuardOptions } from './guarded-fetch.ts';
import { signatureOf } from './webhook-signature.ts';

// The time limit of one delivery, including name resolution. It is well below the lease of the outbox.
const WEBHOOK_TIMEOUT_MS = 15_000;

export type WebhookSenderOptions = Pick<GuardOptions, 'allowLoopback' | 'resolve' | 'timeoutMs'>;

/** Sends webhooks according to Standard Webhooks 1.0, to public addresses only. */
export function createWebhookSender(options: WebhookSenderOptions = {}): SendWebhook {
  const guardedFetch = createGuardedFetch({
    timeoutMs: WEBHOOK_TIMEOUT_MS,
    // Only the receiver's status matters.
    body: 'ignored',
    ...options,
  });
  return async (request) => {
    const { url, body } = request;
    try {
      const reply = await guardedFetch({ url, method: 'POST', headers: headersOf(request), body });
      return replyOf(reply, request.now);
    } catch (error) {
      return { type: 'failed', fault: faultOf(error) };
    }
  };
}

function headersOf({ webhookId, body, secrets, now }: WebhookRequest): Readonly<Record<string, string>> {
  const timestamp = Math.floor(now / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': 'Parley',
    'webhook-id': webhookId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatureOf({ webhookId, timestamp, body, secrets }),
  };
}

function replyOf({ status, headers }: GuardedReply, now: number): WebhookReply {
  const retryAfterMs = retryAfterOf(headers['retry-after'], now);
  return { type: 'replied', status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Parses seconds or an HTTP date (RFC 9110, 10.2.3). Undefined for any other text. */
function retryAfterOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]{1,10}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function faultOf(error: unknown): (WebhookReply & { type: 'failed' })['fault'] {
  // `too_large` cannot occur, because the body is not read.
  if (!(error instanceof GuardedFetchError) || error.code === 'too_large') return 'failed';
  return error.code;
}

import { createHmac } from 'node:crypto';

interface SignatureInput {
  readonly webhookId: string;
  /** The signing time in whole seconds since 1970. */
  readonly timestamp: number;
  /** The body exactly as it is sent. */
  readonly body: string;
  readonly secrets: readonly Uint8Array[];
}

/**
 * The value of `webhook-signature`: one `v1` signature (HMAC-SHA256, base64) for each secret, in order. A receiver that knows
 * any of the secrets can verify it (Standard Webhooks 1.0, symmetric signatures).
 */
export function signatureOf({ webhookId, timestamp, body, secrets }: SignatureInput): string {
  const signed = `${webhookId}.${timestamp}.${body}`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`)
    .join(' ');
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { IncomingHeaders, WebhookVerdict } from '../connector.ts';

export const SIGNATURE_HEADER = 'x-nango-hmac-sha256';
/** The tags that tie a connection to a flow. They are in lower case, because Nango lowercases all keys. */
export const FLOW_TAG = 'elicitation_id';
export const TENANT_TAG = 'tenant';

const Envelope = z.object({ type: z.string() });
const AuthEvent = z.object({
  type: z.literal('auth'),
  operation: z.enum(['creation', 'override']),
  success: z.literal(true),
  connectionId: z.string().min(1).max(255),
  providerConfigKey: z.string(),
  tags: z.object({ [FLOW_TAG]: z.string(), [TENANT_TAG]: z.string() }),
});

/** Reads a webhook of Nango: whether it is genuine, and whether it reports a connection of `integration`. */
export function readNangoWebhook(
  raw: Uint8Array,
  headers: IncomingHeaders,
  { signingKey, integration }: { readonly signingKey: string; readonly integration: string },
): WebhookVerdict {
  if (!isSigned(raw, headers, signingKey)) return { type: 'refused', reason: 'signature' };
  const body = parseJson(raw);
  if (!Envelope.safeParse(body).success) return { type: 'refused', reason: 'body' };
  const parsed = AuthEvent.safeParse(body);
  if (!parsed.success || parsed.data.providerConfigKey !== integration) return { type: 'ignored' };
  const { connectionId, operation, tags } = parsed.data;
  return {
    type: 'event',
    eventId: `${connectionId}:${operation}`,
    event: { connectionId, flowId: tags[FLOW_TAG], tenant: tags[TENANT_TAG] },
  };
}

function isSigned(raw: Uint8Array, headers: IncomingHeaders, signingKey: string): boolean {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === SIGNATURE_HEADER);
  const given = name === undefined ? undefined : headers[name];
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/iu.test(given)) return false;
  return timingSafeEqual(Buffer.from(given, 'hex'), createHmac('sha256', signingKey).update(raw).digest());
}

function parseJson(raw: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw));
  } catch {
    return undefined;
  }
}

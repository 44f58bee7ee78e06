import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { faultOfUrl, type UrlRules } from '@parley/core/domain/url';

/** Which tenants may set a `webhookUrl`, and which URLs are allowed. */
export interface WebhookRules {
  /** True for a tenant whose webhooks can be signed. */
  hasSecret(tenant: string): boolean;
  /** False for a URL to which no webhook is ever sent, whatever its name resolves to. */
  mayCall(url: string): boolean;
}

/** The settings with which an ask is checked. Without `webhooks`, no ask may have a webhook. */
export interface WebhookSettings {
  readonly webhooks?: WebhookRules;
}

/** The fault of the webhook of an ask, or undefined. */
export function faultOfWebhook(
  { webhooks, ...rules }: WebhookSettings & UrlRules,
  tenant: string,
  { webhookUrl }: Pick<AskInput, 'webhookUrl'>,
): string | undefined {
  if (webhookUrl === undefined) return undefined;
  if (webhooks?.hasSecret(tenant) !== true)
    return 'needs a secret that signs it: have one set for this tenant in PARLEY_WEBHOOK_SECRETS';
  const fault = faultOfUrl(webhookUrl, rules);
  if (fault !== undefined) return fault;
  return webhooks.mayCall(webhookUrl) ? undefined : 'must not name a private address';
}

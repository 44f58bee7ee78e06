import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { faultOfUrl, type UrlRules } from '@parley/core/domain/url';

/** Which tenants may set a `webhookUrl`, and to which URLs. */
export interface WebhookRules {
  /** True for a tenant that has a secret with which its webhooks are signed. */
  hasSecret(tenant: string): boolean;
  /** False for a URL that is never called, whatever its host name resolves to. */
  mayCall(url: string): boolean;
}

/** The settings for checking the webhook of an ask. Without `webhooks`, no ask may have one. */
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

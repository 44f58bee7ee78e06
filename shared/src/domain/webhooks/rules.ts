import type { AskInput } from '../elicitations/ask-input.ts';
import { faultOfUrl, type UrlRules } from '../url.ts';

/** Who may ask with a `webhookUrl`, and for which. */
export interface WebhookRules {
  /** True for a tenant whose webhooks can be signed. */
  hasSecret(tenant: string): boolean;
  /** False for a URL that no webhook would ever be sent to, whatever its name resolves to. */
  mayCall(url: string): boolean;
}

/** What the check of an ask needs of the settings; without rules nobody may have a webhook. */
export interface WebhookSettings {
  readonly webhooks?: WebhookRules;
}

/** What is wrong with the webhook of an ask, or nothing. */
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

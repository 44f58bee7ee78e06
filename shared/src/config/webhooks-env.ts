import type { WebhookRules } from '../domain/webhooks/rules.ts';
import { mayBeCalled } from '../net/guarded-fetch.ts';
import type { Env } from './variables.ts';

const ENTRY =
  /^([A-Za-z0-9._-]{1,128}):whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
// Standard Webhooks sets these limits for symmetric secrets.
const SECRET_BYTES_MIN = 24;
const SECRET_BYTES_MAX = 64;

/** Faults in the secrets that sign webhooks. The sentences never repeat a secret. */
export function faultsOfWebhooks({
  PARLEY_WEBHOOK_SECRETS: entries,
}: Pick<Env, 'PARLEY_WEBHOOK_SECRETS'>): string[] {
  if (entries.every((entry) => parsed(entry) !== undefined)) return [];
  return [
    `PARLEY_WEBHOOK_SECRETS: every entry must be tenant:whsec_<base64 of ${SECRET_BYTES_MIN} to ${SECRET_BYTES_MAX} bytes>`,
  ];
}

/** The secrets that sign a tenant's webhooks, newest first. Empty for a tenant without secrets. */
export function webhookSecretsOf({
  PARLEY_WEBHOOK_SECRETS: entries,
}: Env): (tenant: string) => readonly Uint8Array[] {
  const secrets = new Map<string, readonly Uint8Array[]>();
  for (const { tenant, secret } of entries.flatMap((entry) => parsed(entry) ?? [])) {
    secrets.set(tenant, [...(secrets.get(tenant) ?? []), secret]);
  }
  return (tenant) => secrets.get(tenant) ?? [];
}

/** Which tenants may ask with a `webhookUrl`, and which URLs they may use. */
export function webhookRules(env: Env): WebhookRules {
  const secretsOf = webhookSecretsOf(env);
  const allowLoopback = env.NODE_ENV !== 'production';
  return {
    hasSecret: (tenant) => secretsOf(tenant).length > 0,
    mayCall: (url) => mayBeCalled(url, { allowLoopback }),
  };
}

function parsed(entry: string): { readonly tenant: string; readonly secret: Uint8Array } | undefined {
  const [, tenant, base64] = ENTRY.exec(entry) ?? [];
  if (tenant === undefined || base64 === undefined) return undefined;
  const secret = Buffer.from(base64, 'base64');
  return secret.length < SECRET_BYTES_MIN || secret.length > SECRET_BYTES_MAX
    ? undefined
    : { tenant, secret };
}

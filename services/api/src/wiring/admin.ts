import { backendSettings } from '@parley/shared/config/env';
import { createWebhooks } from '@parley/shared/delivery/webhooks';
import { type Caller, keyIdOf, operatorOf } from '@parley/shared/domain/caller';
import type { Surface } from '../http/route.ts';
import type { AdminDeps, OperatedChannel } from '../surfaces/admin/deps.ts';
import { createWatchers } from '../surfaces/admin/live/watchers.ts';
import { adminRoutes } from '../surfaces/admin/routes.ts';
import type { PodParts } from './pod-parts.ts';

/** Builds the admin API, and the line in the log of each act of an operator. */
export function wireAdmin(
  { env, backend, engine, limits, log, metrics }: PodParts,
  channel: OperatedChannel | undefined,
  accountsOf: AdminDeps['accountsOf'] = async () => [],
): Surface {
  const settings = backendSettings(env);
  return adminRoutes({
    ...backend,
    engine,
    retentionMs: settings.retentionMs,
    webhooks: createWebhooks({ ...backend, ...settings }),
    watchers: createWatchers(
      {
        ofOperatorMax: env.PARLEY_LIMIT_OPERATOR_STREAMS,
        ofTenantMax: env.PARLEY_LIMIT_TENANT_OPERATOR_STREAMS,
      },
      () => metrics.rateLimited.add(1, { limit: 'operator-streams' }),
    ),
    streamsOf: limits.streamsOf,
    accountsOf,
    chatQuotas: settings.chatQuotas,
    takePage: (caller) => limits.call(caller, false),
    channel,
    onAct: (act, caller) =>
      log.info(
        { ...act, tenant: caller.tenant, key: keyNamedBy(caller), operator: operatorOf(caller) },
        'operator acted',
      ),
  });
}

/** The service key that acted; undefined where a signed-in operator did. */
function keyNamedBy(caller: Caller): string | undefined {
  return operatorOf(caller) === undefined ? keyIdOf(caller) : undefined;
}

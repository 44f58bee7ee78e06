import { backendSettings } from '@parley/shared/config/env';
import { parseServiceKeys } from '@parley/shared/config/service-keys';
import { createWebhooks } from '@parley/shared/delivery/webhooks';
import { createPushStoreOf } from '@parley/shared/runtime/a2a-push';
import { ZodError } from 'zod';
import type { Surface } from '../http/route.ts';
import type { AdminDeps, OperatedChannel } from '../surfaces/admin/deps.ts';
import { createWatchers } from '../surfaces/admin/live/watchers.ts';
import { adminRoutes } from '../surfaces/admin/routes.ts';
import { createActLog } from './acts.ts';
import type { PodParts } from './pod-parts.ts';

/** Builds the admin API. */
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
    pushHostOf: pushHostsOf(createPushStoreOf(env, backend)),
    hasOneTenant: tenantsOf(env).size <= 1,
    onAct: createActLog(log),
  });
}

/** The hosts that receive updates of A2A tasks. Without vault keys there are no such updates. */
function pushHostsOf(store: ReturnType<typeof createPushStoreOf>): AdminDeps['pushHostOf'] {
  if (store === undefined) return undefined;
  return async (task, slot) => {
    try {
      const open = await store.open(task, slot);
      return open === undefined ? undefined : new URL(open.target.url).host;
    } catch (error) {
      // A target stored by a later version is listed without its host.
      if (error instanceof ZodError) return undefined;
      throw error;
    }
  };
}

/** The tenants that the environment names. */
function tenantsOf(env: PodParts['env']): ReadonlySet<string> {
  const { PARLEY_API_KEYS: keys, PARLEY_JWT_TENANTS: issued, PARLEY_CONNECT_TENANTS: connected } = env;
  const ofConsole = env.PARLEY_CONSOLE === undefined || connected.length > 0 ? connected : ['default'];
  return new Set([...parseServiceKeys(keys).keys.map(({ tenant }) => tenant), ...issued, ...ofConsole]);
}

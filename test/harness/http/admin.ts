import type { Owner } from '@parley/core/domain/ids';
import { parseServiceKeys } from '@parley/shared/config/service-keys';
import { createWebhooks } from '@parley/shared/delivery/webhooks';
import type { Backend } from '@parley/shared/ports/backend';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import type { AdminDeps } from '../../../services/api/src/surfaces/admin/deps.ts';
import { createWatchers } from '../../../services/api/src/surfaces/admin/live/watchers.ts';
import { adminRoutes } from '../../../services/api/src/surfaces/admin/routes.ts';
import { call } from '../attacks/call.ts';
import { engineOn } from '../engines/engines.ts';
import { ROOMY } from '../engines/settings.ts';
import { type ServedSurfaces, serveSurfaces } from '../turns/serve.ts';
import { callLimitsOn } from './call-limits.ts';

/** The secret of the tokens of people. */
export const ADMIN_TOKENS = 'admin-secret-admin-secret-admin-secret';

/** What the admin API needs of a pod, over one backend. */
export function adminDepsOn(backend: Backend, more: Partial<AdminDeps> = {}): AdminDeps {
  return {
    ...backend,
    engine: engineOn(backend),
    retentionMs: ROOMY.retentionMs,
    webhooks: createWebhooks({ ...backend, ...ROOMY }),
    watchers: createWatchers({ ofOperatorMax: 1e6, ofTenantMax: 1e6 }, () => undefined),
    streamsOf: callLimitsOn(backend.limits).streamsOf,
    accountsOf: async () => [],
    chatQuotas: ROOMY.chatQuotas,
    takePage: async () => undefined,
    pushHostOf: async () => undefined,
    hasOneTenant: true,
    onAct: () => undefined,
    ...more,
  };
}

const SCOPES = ['operate', 'operate+read_content', 'ask+read+chat', 'admin'];

/** The service key of a tenant with these scopes. */
export function adminKeyOf({ tenant }: Pick<Owner, 'tenant'>, scopes: string): string {
  return `${tenant}-${scopes}-0123456789`;
}

/** Serves the admin API to the keys of tenants. */
export async function serveAdmin(
  backend: Backend,
  tenants: readonly Owner[],
  { more = {}, drain }: { more?: Partial<AdminDeps>; drain?: ServedSurfaces['drain'] } = {},
) {
  const entries = tenants.flatMap((of) =>
    SCOPES.map((scopes, at) => `${of.tenant}/key-${at}/${scopes}:${adminKeyOf(of, scopes)}`),
  );
  const { keys, faults } = parseServiceKeys(entries);
  if (faults.length > 0) throw new Error(faults.join(' '));
  const surface = adminRoutes(adminDepsOn(backend, more));
  const served = await serveSurfaces({
    surfaces: [surface],
    authenticate: createAuthenticate({
      serviceKeys: keys,
      verify: createTokenVerifier({ tenants: [], userClaim: 'sub', secret: ADMIN_TOKENS }),
    }),
    limits: callLimitsOn(backend.limits),
    ...(drain !== undefined && { drain }),
  });
  const [first] = tenants;
  const operator = first === undefined ? '' : adminKeyOf(first, 'operate');
  const send = (method: string, path: string, token = operator, body?: unknown) =>
    call(served.url, { method, path: `/v1/admin${path}`, token, ...(body !== undefined && { body }) });
  return {
    ...served,
    surface,
    send,
    get: (path: string, token = operator) => send('GET', path, token),
  };
}

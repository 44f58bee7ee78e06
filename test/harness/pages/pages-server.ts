import { parseServiceKeys } from '@parley/shared/config/service-keys';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createAuthenticate } from '../../../services/api/src/http/auth.ts';
import { NO_DRAIN } from '../../../services/api/src/http/life/drain.ts';
import { createHeartbeats } from '../../../services/api/src/http/life/heartbeats.ts';
import { createRouter, type Router } from '../../../services/api/src/http/router.ts';
import { createServe, type ServeDeps } from '../../../services/api/src/http/serve.ts';
import { createTokenVerifier } from '../../../services/api/src/http/token.ts';
import type { LinkDeps } from '../../../services/api/src/pages/answer/by-link.ts';
import { answerLinkRoutes } from '../../../services/api/src/pages/answer/link-routes.ts';
import { createAnswerLinks } from '../../../services/api/src/pages/answer/links.ts';
import { answerPageRoutes } from '../../../services/api/src/pages/answer/page-routes.ts';
import { type AuthPagesDeps, authRoutes } from '../../../services/api/src/pages/routes.ts';
import { accountRoutes } from '../../../services/api/src/surfaces/accounts/routes.ts';

export interface PagesOptions {
  readonly serviceKeys: readonly string[];
  /** Signs users' tokens. */
  readonly tokenSecret: string;
  readonly onFault?: ServeDeps['onFault'];
}

/** What the pages need, and the calls for answer links. */
export type PagesDeps = AuthPagesDeps &
  Pick<LinkDeps, 'approvals' | 'linksApprovals'> & { readonly engine: Pick<Engine, 'read'> };

/** The hosted pages alone, as a pod serves them. */
export function createPages(
  deps: PagesDeps,
  { serviceKeys, tokenSecret, onFault = () => undefined }: PagesOptions,
): Router {
  const serve = createServe({
    authenticate: createAuthenticate({
      serviceKeys: parseServiceKeys(serviceKeys).keys,
      verify: createTokenVerifier({ secret: tokenSecret, tenants: [], userClaim: 'sub' }),
    }),
    limits: {
      ...deps.callLimits,
      opening: async () => undefined,
      sent: async () => 0,
      body: async () => undefined,
    },
    bodyBytesMax: 262_144,
    messagesBytesMax: 4_194_304,
    sse: { heartbeats: createHeartbeats(15_000), slowReaderMs: 30_000, drain: NO_DRAIN },
    onDone: () => undefined,
    onFault,
    onStream: () => undefined,
  });
  const { engine, publicUrl, linksApprovals, onEvent } = deps;
  const links = createAnswerLinks(deps.store);
  const surfaces = [
    answerLinkRoutes({
      engine,
      pages: { publicUrl, links },
      linksApprovals,
      onEvent,
      onAct: () => undefined,
    }),
    answerPageRoutes({ ...deps, links, connect: deps }),
    authRoutes(deps),
    accountRoutes(deps),
  ];
  return createRouter({ surfaces, serve, corsOrigins: [] });
}

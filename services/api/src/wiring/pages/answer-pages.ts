import type { Surface } from '../../http/route.ts';
import { answerLinkRoutes } from '../../pages/answer/link-routes.ts';
import { createAnswerLinks } from '../../pages/answer/links.ts';
import { answerPageRoutes } from '../../pages/answer/page-routes.ts';
import type { AuthPagesDeps } from '../../pages/routes.ts';
import { createActLog } from '../acts.ts';
import type { PodParts } from '../pod-parts.ts';
import { brandOf } from './brand.ts';
import { createPageLog } from './log.ts';

/**
 * Builds the answer links and the answer pages, on which owners sign in where there are connect pages. Without
 * PARLEY_PUBLIC_URL there are only the calls, which say what is missing.
 */
export function wireAnswerPages(parts: PodParts, connect: AuthPagesDeps | undefined): readonly Surface[] {
  const { env, backend, engine, limits, log, metrics } = parts;
  const onEvent = createPageLog({ log, metrics });
  const { PARLEY_PUBLIC_URL: publicUrl, PARLEY_APPROVAL_LINKS: linksApprovals } = env;
  const asked = { engine, linksApprovals, onEvent, onAct: createActLog(log) };
  if (publicUrl === undefined) return [answerLinkRoutes(asked)];
  const links = createAnswerLinks(backend.pages);
  const pages = answerPageRoutes({
    publicUrl,
    engine,
    elicitations: engine.shown.elicitations,
    store: backend.pages,
    limits: backend.limits,
    approvals: backend.approvals,
    links,
    linksApprovals,
    callLimits: limits,
    notifyOrigins: [],
    brand: brandOf(env),
    proxyHops: env.PARLEY_CONNECT_PROXY_HOPS,
    failuresMax: env.PARLEY_LIMIT_CONNECT_FAILURES,
    postsMax: env.PARLEY_LIMIT_CONNECT_FORMS,
    onEvent,
    ...(connect !== undefined && { connect }),
  });
  return [answerLinkRoutes({ ...asked, pages: { publicUrl, links } }), pages];
}

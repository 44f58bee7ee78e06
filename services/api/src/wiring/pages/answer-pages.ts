import type { Surface } from '../../http/route.ts';
import { answerLinkRoutes } from '../../pages/answer/link-routes.ts';
import { createAnswerLinks } from '../../pages/answer/links.ts';
import { answerPageRoutes } from '../../pages/answer/page-routes.ts';
import type { AuthPagesDeps } from '../../pages/routes.ts';
import { createActLog } from '../acts.ts';
import type { PodParts } from '../pod-parts.ts';
import { pageSettings } from './settings.ts';

/**
 * Builds the answer links and the answer pages. Owners sign in on these if there are connect pages. Without PARLEY_PUBLIC_URL
 * only the calls exist, and they report what is missing.
 */
export function wireAnswerPages(parts: PodParts, connect: AuthPagesDeps | undefined): readonly Surface[] {
  const { env, backend, engine, limits, log } = parts;
  const settings = pageSettings(parts);
  const { onEvent } = settings;
  const { PARLEY_PUBLIC_URL: publicUrl, PARLEY_APPROVAL_LINKS: linksApprovals } = env;
  const asked = { engine, linksApprovals, onEvent, onAct: createActLog(log) };
  if (publicUrl === undefined) return [answerLinkRoutes(asked)];
  const links = createAnswerLinks(backend.pages);
  const pages = answerPageRoutes({
    ...settings,
    publicUrl,
    engine,
    elicitations: engine.shown.elicitations,
    approvals: backend.approvals,
    links,
    linksApprovals,
    callLimits: limits,
    ...(connect !== undefined && { connect }),
  });
  return [answerLinkRoutes({ ...asked, pages: { publicUrl, links } }), pages];
}

import type { PageDeps } from '../../pages/serving/parts.ts';
import type { PodParts } from '../pod-parts.ts';
import { createPageLog } from './log.ts';

/** What all hosted pages of this deployment share, whatever they are about. */
export function pageSettings({
  env,
  backend,
  log,
  metrics,
}: Pick<PodParts, 'env' | 'backend' | 'log' | 'metrics'>): Omit<PageDeps, 'publicUrl'> {
  const { PARLEY_TITLE: title, PARLEY_LOGO_URL: logoUrl } = env;
  return {
    store: backend.pages,
    limits: backend.limits,
    notifyOrigins: [],
    brand: { ...(title !== undefined && { title }), ...(logoUrl !== undefined && { logoUrl }) },
    proxyHops: env.PARLEY_CONNECT_PROXY_HOPS,
    failuresMax: env.PARLEY_LIMIT_CONNECT_FAILURES,
    postsMax: env.PARLEY_LIMIT_CONNECT_FORMS,
    onEvent: createPageLog({ log, metrics }),
  };
}

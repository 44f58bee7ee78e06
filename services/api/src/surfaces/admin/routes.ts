import type { Surface } from '../../http/route.ts';
import type { AdminDeps } from './deps.ts';
import { createBriefCache } from './figures/brief-cache.ts';
import { countsRoute } from './figures/counts.ts';
import { insightsRoute } from './figures/insights.ts';
import { installationRoute } from './installation.ts';
import { listRoutes } from './list-routes.ts';
import { eventsRoute } from './live/events.ts';
import { overviewRoute } from './overview.ts';
import { conversationRoute } from './people/conversation.ts';
import { personRoute } from './people/person.ts';
import { recordRoutes } from './record-routes.ts';
import { turnRoutes } from './turn-routes.ts';

/** The admin API under /v1/admin: what operators see and do for all users of a tenant. */
export function adminRoutes(deps: AdminDeps): Surface {
  const cached = createBriefCache();
  return {
    routes: [
      overviewRoute(deps),
      installationRoute(deps, cached),
      countsRoute(deps, cached),
      insightsRoute(deps, cached),
      eventsRoute(deps),
      ...listRoutes(deps),
      ...recordRoutes(deps),
      ...turnRoutes(deps),
      personRoute(deps),
      conversationRoute(deps),
    ],
  };
}

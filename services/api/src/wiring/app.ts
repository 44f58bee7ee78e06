import { docsRoutes } from '../http/docs/routes.ts';
import type { Surface } from '../http/route.ts';
import { createRouter, type Router } from '../http/router.ts';
import type { Serve } from '../http/serve.ts';

interface AppDeps {
  /** The surfaces, in the order in which the documentation lists their calls. */
  readonly surfaces: readonly Surface[];
  readonly serve: Serve;
  readonly corsOrigins: readonly string[];
  readonly version: string;
}

/** The whole API as one request handler without a server: all surfaces, and the documentation about them. */
export function createApp({ surfaces, version, ...deps }: AppDeps): Router {
  const docs = docsRoutes(
    surfaces.flatMap(({ routes }) => routes),
    version,
  );
  return createRouter({ ...deps, surfaces: [...surfaces, docs] });
}

import { readFileSync } from 'node:fs';
import { type OpenApi, openApiOf } from '../../services/api/src/http/docs/openapi.ts';
import { answerLinkRoutes } from '../../services/api/src/pages/answer/link-routes.ts';
import { receivedPushRoutes } from '../../services/api/src/surfaces/a2a/received-pushes.ts';
import { a2aRoutes } from '../../services/api/src/surfaces/a2a/routes.ts';
import { accountRoutes } from '../../services/api/src/surfaces/accounts/routes.ts';
import { adminRoutes } from '../../services/api/src/surfaces/admin/routes.ts';
import { agUiRoutes } from '../../services/api/src/surfaces/ag-ui/routes.ts';
import { aiSdkRoutes } from '../../services/api/src/surfaces/ai-sdk/routes.ts';
import { openAiRoutes } from '../../services/api/src/surfaces/openai/routes.ts';
import { restRoutes } from '../../services/api/src/surfaces/rest/routes.ts';
import { POD_ADDRESS } from './pod-address.ts';

// Routes use their dependencies only when they are called, so none are needed here.
const UNUSED = {} as never;

/** The OpenAPI description of a pod with every feature. */
export function siteOpenApi(): OpenApi {
  const surfaces = [
    restRoutes(UNUSED),
    adminRoutes(UNUSED),
    aiSdkRoutes({ engine: UNUSED, limits: UNUSED, turns: UNUSED, eraseConversation: UNUSED }),
    openAiRoutes(UNUSED),
    agUiRoutes(UNUSED),
    a2aRoutes({ agents: [] } as never),
    receivedPushRoutes(UNUSED),
    answerLinkRoutes(UNUSED),
    accountRoutes(UNUSED),
  ];
  const manifest = readFileSync(new URL('../../services/api/package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(manifest) as { readonly version: string };
  return {
    ...openApiOf(
      surfaces.flatMap(({ routes }) => routes),
      version,
    ),
    servers: [{ url: POD_ADDRESS }],
  };
}

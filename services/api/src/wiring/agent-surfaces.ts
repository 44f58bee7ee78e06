import type { Surface } from '../http/route.ts';
import { agUiRoutes } from '../surfaces/ag-ui/routes.ts';
import { openAiRoutes } from '../surfaces/openai/routes.ts';
import { wireA2a } from './a2a.ts';
import { wireReceivedPushes } from './a2a-pushes.ts';
import type { WiredAgents } from './agents.ts';
import { wireMcp } from './mcp.ts';
import type { PodParts } from './pod-parts.ts';

/** The surfaces that only a pod with agents has. */
export function wireAgentSurfaces(parts: PodParts, agents: WiredAgents): readonly Surface[] {
  const { env, engine, limits, version } = parts;
  const { turns, offeredToA2a } = agents;
  return [
    openAiRoutes({ engine, limits, turns, steps: env.PARLEY_OPENAI_STEPS }),
    agUiRoutes({ engine, limits, turns, hopsMax: env.PARLEY_A2A_HOPS, version }),
    wireMcp(parts, agents),
    ...wireA2a(parts, turns, offeredToA2a),
    ...wireReceivedPushes(parts),
  ];
}

/** The route with figures about held calls, by rule. Counts of everything are in `counts.ts`. */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { ParleyError } from '@parley/core/domain/errors';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { z } from 'zod';
import { json, type Route } from '../../../http/route.ts';
import { adminRoute } from '../admin-route.ts';
import { type AdminDeps, mayReadContent } from '../deps.ts';
import { loadApprovals } from '../load.ts';
import type { BriefCache } from './brief-cache.ts';
import { tookMs, WindowQuery } from './counts.ts';
import {
  endedWithin,
  quantile,
  sampleList,
  sumsBy,
  totalOf,
  type Weighted,
  WINDOW_MS,
  WINDOWS,
  type Window,
} from './sample.ts';

const GROUPS_MAX = 100;
const UNREAD_MS = 2_000;
/** The minimum number of decisions before a rule is assessed. */
const DECIDED_MIN = 10;

const GROUPINGS = ['agent', 'tool', 'person'] as const;
type Grouping = (typeof GROUPINGS)[number];

const Insight = z.object({
  name: z.string().describe('The id of the agent, the name of the tool, or the user id.'),
  held: z.int().describe('Calls that waited for an approval and ended within the window.'),
  approvedShare: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Of what was decided; `edited` counts. Absent where nothing was.'),
  medianSeconds: z.number().optional().describe('From the request to the decision.'),
  expired: z.int(),
  withdrawn: z.int(),
  decidedWithinTwoSeconds: z.int().describe('Hardly anybody can have read these.'),
  neverDenied: z
    .boolean()
    .describe(`At least ${DECIDED_MIN} were decided and none was denied: the rule may be needless.`),
});
type Insight = z.infer<typeof Insight>;

const Insights = z
  .object({
    window: z.enum(WINDOWS),
    by: z.enum(GROUPINGS),
    coveredSeconds: z.int().describe('As far as the window lies within the retention.'),
    insights: z.array(Insight).describe(`Most held calls first, at most ${GROUPS_MAX}.`),
    isSampled: z.boolean().describe('True: the figures are estimates from a sample.'),
  })
  .meta({ id: 'Insights' });

const NAME_OF: Readonly<Record<Grouping, (row: ApprovalRow) => string>> = {
  agent: ({ definition }) => definition.agentId,
  tool: ({ definition }) => definition.tool.name,
  person: ({ definition }) => definition.userId,
};

/** The route with figures about held calls, for the owner of a deployment. */
export function insightsRoute(deps: AdminDeps, cached: BriefCache): Route {
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/insights',
    query: z.strictObject({ ...WindowQuery, by: z.enum(GROUPINGS).default('agent') }),
    docs: {
      summary: 'Read how held calls were decided, by agent, tool or person',
      description:
        'By `person` only for keys with the scope `read_content`. A pod makes them at most every five seconds.',
      example: {
        query: '?window=day&by=tool',
        reply: {
          window: 'day',
          by: 'tool',
          coveredSeconds: 86_400,
          insights: [
            {
              name: 'bookings_cancel',
              held: 120,
              approvedShare: 1,
              medianSeconds: 6.4,
              expired: 3,
              withdrawn: 1,
              decidedWithinTwoSeconds: 40,
              neverDenied: true,
            },
          ],
          isSampled: false,
        },
      },
      replies: { 200: { description: 'By name', schema: Insights } },
      errors: ['forbidden'],
    },
    async handle({ caller, query: { window, by } }) {
      if (by === 'person' && !mayReadContent(caller))
        throw new ParleyError('forbidden', 'Figures by person need the scope read_content.');
      const { tenant } = caller;
      const name = JSON.stringify(['insights', tenant, window, by]);
      return json(200, await cached(name, () => insightsOf(deps, tenant, window, by)));
    },
  });
}

async function insightsOf(
  deps: AdminDeps,
  tenant: string,
  window: Window,
  by: Grouping,
): Promise<z.infer<typeof Insights>> {
  const { parts, isSampled } = await sampleList(deps.tenantLists, {
    tenant,
    kind: 'approvals',
    ranges: endedWithin(window),
    load: async (ids) =>
      (await loadApprovals(deps, tenant, ids)).map((one) =>
        one !== undefined && isApprovalEnded(one.row.status) ? one.row : undefined,
      ),
  });
  const groups = sumsBy(parts.flat(), NAME_OF[by], GROUPS_MAX);
  return {
    window,
    by,
    coveredSeconds: Math.floor(Math.min(WINDOW_MS[window], deps.retentionMs) / 1000),
    insights: groups.map(([name, held, of]) => ({ name, held, ...insightOf(of) })),
    isSampled,
  };
}

function insightOf(rows: readonly Weighted<ApprovalRow>[]): Omit<Insight, 'name' | 'held'> {
  const count = (has: (row: ApprovalRow) => boolean) => totalOf(rows.filter(({ item }) => has(item)));
  const decided = rows.filter(({ item }) => item.settlement?.decision !== undefined);
  const times = decided.map(({ item, weight }) => ({ item: tookMs(item), weight }));
  const median = quantile(times, 0.5);
  const decidedCount = totalOf(decided);
  const denied = count(({ status }) => status === 'denied');
  const approved = count(({ status }) => status === 'approved' || status === 'edited');
  return {
    ...(decidedCount > 0 && { approvedShare: Math.min(1, approved / decidedCount) }),
    ...(median !== undefined && { medianSeconds: median / 1000 }),
    expired: count(({ status }) => status === 'expired'),
    withdrawn: count(({ status }) => status === 'withdrawn'),
    decidedWithinTwoSeconds: totalOf(times.filter(({ item }) => item <= UNREAD_MS)),
    neverDenied: decidedCount >= DECIDED_MIN && denied === 0,
  };
}

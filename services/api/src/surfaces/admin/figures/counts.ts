/** The route with a tenant's counts and durations. Sampling is in `sample.ts`. */

import { APPROVAL_STATUSES, isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal, STATUSES } from '@parley/core/domain/elicitations/status';
import type { ListRange } from '@parley/shared/ports/tenant-lists';
import { z } from 'zod';
import { json, type Route } from '../../../http/route.ts';
import { adminRoute } from '../admin-route.ts';
import type { AdminDeps } from '../deps.ts';
import { loadApprovals, loadQuestions } from '../load.ts';
import type { BriefCache } from './brief-cache.ts';
import {
  endedWithin,
  quantile,
  sampleList,
  sumsBy,
  type Weighted,
  WINDOW_MS,
  WINDOWS,
  type Window,
} from './sample.ts';

const MINUTE_MS = 60_000;
const GROUPS_MAX = 50;
/** The trigger as which approvals are counted. */
const APPROVAL = 'approval';
const NO_AGENT = '(none)';

const OPEN = [
  ['underOneMinute', 0, MINUTE_MS],
  ['underTenMinutes', MINUTE_MS + 1, 10 * MINUTE_MS],
  ['underOneHour', 10 * MINUTE_MS + 1, 60 * MINUTE_MS],
  ['overOneHour', 60 * MINUTE_MS + 1, undefined],
] as const;
const OPEN_RANGES: readonly ListRange[] = OPEN.map(([, minAgeMs, maxAgeMs]) => ({
  state: 'open',
  minAgeMs,
  ...(maxAgeMs !== undefined && { maxAgeMs }),
}));

const ages = Object.fromEntries(OPEN.map(([name]) => [name, z.int()])) as Record<
  (typeof OPEN)[number][0],
  z.ZodInt
>;
const ByAge = z.object(ages);
const Count = z.object({
  open: ByAge.describe('By age.'),
  openByAgent: z
    .array(z.object({ agent: z.string(), ...ages }))
    .describe(`By agent and age, at most ${GROUPS_MAX}; \`${NO_AGENT}\`: asked by a service.`),
  ended: z.int().describe('Within the window.'),
  outcomes: z
    .array(z.object({ trigger: z.string(), byStatus: z.record(z.string(), z.int()) }))
    .describe(`What ended, by trigger and status, at most ${GROUPS_MAX}.`),
  answerSeconds: z
    .object({ p50: z.number(), p95: z.number() })
    .optional()
    .describe('From the ask to the answer of a person; absent where nobody answered.'),
  isSampled: z
    .boolean()
    .describe(
      'True: agents, triggers and times are estimates from a sample. `open` and `ended` are counted.',
    ),
});
type Count = z.infer<typeof Count>;

const Counts = z
  .object({
    window: z.enum(WINDOWS),
    coveredSeconds: z.int().describe('As far as the window lies within the retention.'),
    elicitations: Count,
    approvals: Count,
  })
  .meta({ id: 'Counts' });

export const WindowQuery = { window: z.enum(WINDOWS).default('hour') };

const SAMPLE: Count = {
  open: { underOneMinute: 3, underTenMinutes: 6, underOneHour: 3, overOneHour: 0 },
  openByAgent: [{ agent: 'travel', underOneMinute: 1, underTenMinutes: 6, underOneHour: 3, overOneHour: 0 }],
  ended: 310,
  outcomes: [{ trigger: 'agent', byStatus: { accepted: 290, expired: 20 } }],
  answerSeconds: { p50: 41.2, p95: 380 },
  isSampled: false,
};

/**
 * The route that counts a tenant's open records and how the others ended. The lists give the numbers, and a sample of rows the
 * details.
 */
export function countsRoute(deps: AdminDeps, cached: BriefCache): Route {
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/counts',
    query: z.strictObject(WindowQuery),
    docs: {
      summary: 'Count what is open by agent and age, outcomes by trigger, and times to answer',
      description: 'A pod makes the figures of a tenant at most every five seconds.',
      example: {
        query: '?window=hour',
        reply: { window: 'hour', coveredSeconds: 3_600, elicitations: SAMPLE, approvals: SAMPLE },
      },
      replies: { 200: { description: 'By kind', schema: Counts } },
    },
    async handle({ caller: { tenant }, query: { window } }) {
      return json(
        200,
        await cached(JSON.stringify(['counts', tenant, window]), () => countsOf(deps, tenant, window)),
      );
    },
  });
}

/** The facts about a record that the figures need. */
interface Fact {
  readonly hasEnded: boolean;
  readonly agent: string;
  readonly trigger: string;
  readonly status: string;
  /** How long the person took; absent if nobody answered. */
  readonly answerMs: number | undefined;
}

async function countsOf(deps: AdminDeps, tenant: string, window: Window): Promise<z.infer<typeof Counts>> {
  const [elicitations, approvals] = await Promise.all([
    countOf(deps, tenant, window, {
      kind: 'elicitations',
      statuses: STATUSES,
      async load(ids) {
        const loaded = await loadQuestions(deps, tenant, ids);
        return loaded.map(
          (one) =>
            one && {
              hasEnded: isTerminal(one.row.status),
              agent: one.agent ?? NO_AGENT,
              trigger: one.row.definition.context.trigger,
              status: one.row.status,
              answerMs: one.row.settlement?.action === undefined ? undefined : tookMs(one.row),
            },
        );
      },
    }),
    countOf(deps, tenant, window, {
      kind: 'approvals',
      statuses: APPROVAL_STATUSES,
      async load(ids) {
        const loaded = await loadApprovals(deps, tenant, ids);
        return loaded.map(
          (one) =>
            one && {
              hasEnded: isApprovalEnded(one.row.status),
              agent: one.row.definition.agentId,
              trigger: APPROVAL,
              status: one.row.status,
              answerMs: one.row.settlement?.decision === undefined ? undefined : tookMs(one.row),
            },
        );
      },
    }),
  ]);
  const coveredSeconds = Math.floor(Math.min(WINDOW_MS[window], deps.retentionMs) / 1000);
  return { window, coveredSeconds, elicitations, approvals };
}

export function tookMs({
  createdAt,
  settledAt = createdAt,
}: {
  readonly createdAt: number;
  readonly settledAt?: number;
}): number {
  return Math.max(0, settledAt - createdAt);
}

interface CountedKind {
  readonly kind: 'elicitations' | 'approvals';
  readonly statuses: readonly string[];
  readonly load: (ids: readonly string[]) => Promise<readonly (Fact | undefined)[]>;
}

async function countOf(
  { tenantLists }: Pick<AdminDeps, 'tenantLists'>,
  tenant: string,
  window: Window,
  { kind, statuses, load }: CountedKind,
): Promise<Count> {
  // A list may be older than its rows, so an entry that contradicts its row is omitted.
  const loading = (ended: boolean) => async (ids: readonly string[]) =>
    (await load(ids)).map((fact) => (fact?.hasEnded === ended ? fact : undefined));
  const [open, ended] = await Promise.all([
    sampleList(tenantLists, { tenant, kind, ranges: OPEN_RANGES, load: loading(false) }),
    sampleList(tenantLists, { tenant, kind, ranges: endedWithin(window), load: loading(true) }),
  ]);
  const facts = ended.parts.flat();
  const answers = answersOf(facts);
  const [p50, p95] = [0.5, 0.95].map((share) => quantile(answers, share));
  return {
    open: byAge((at) => open.counts[at] ?? 0),
    openByAgent: sumsBy(open.parts.flat(), ({ agent }) => agent, GROUPS_MAX).map(([agent]) => ({
      agent,
      ...byAge(
        (at) =>
          sumsBy(
            (open.parts[at] ?? []).filter((one) => one.item.agent === agent),
            () => '',
            1,
          )[0]?.[1] ?? 0,
      ),
    })),
    ended: ended.counts.reduce((sum, count) => sum + count, 0),
    outcomes: sumsBy(facts, ({ trigger }) => trigger, GROUPS_MAX).map(([trigger, , of]) => ({
      trigger,
      byStatus: Object.fromEntries(
        sumsBy(of, ({ status }) => status, statuses.length).map(([status, sum]) => [status, sum]),
      ),
    })),
    ...(p50 !== undefined && p95 !== undefined && { answerSeconds: { p50: p50 / 1000, p95: p95 / 1000 } }),
    isSampled: open.isSampled || ended.isSampled,
  };
}

function answersOf(facts: readonly Weighted<Fact>[]): Weighted<number>[] {
  return facts.flatMap(({ item: { answerMs }, weight }) =>
    answerMs === undefined ? [] : [{ item: answerMs, weight }],
  );
}

function byAge(countAt: (at: number) => number): z.infer<typeof ByAge> {
  return Object.fromEntries(OPEN.map(([name], at) => [name, countAt(at)])) as z.infer<typeof ByAge>;
}

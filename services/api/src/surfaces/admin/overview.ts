import type { ListedKind, ListRange } from '@parley/shared/ports/tenant-lists';
import { z } from 'zod';
import { json, type Route } from '../../http/route.ts';
import { adminRoute } from './admin-route.ts';
import type { AdminDeps } from './deps.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The ranges of each list that are counted, by their names in the reply. */
const RANGES = {
  open: { state: 'open' },
  openOverOneMinute: { state: 'open', minAgeMs: MINUTE_MS },
  openOverTenMinutes: { state: 'open', minAgeMs: 10 * MINUTE_MS },
  openOverOneHour: { state: 'open', minAgeMs: HOUR_MS },
  endedLastMinute: { state: 'ended', maxAgeMs: MINUTE_MS },
  endedLastHour: { state: 'ended', maxAgeMs: HOUR_MS },
} as const satisfies Readonly<Record<string, ListRange>>;

const NAMES = Object.keys(RANGES) as (keyof typeof RANGES)[];

const Counts = z.object({
  open: z.int(),
  openOverOneMinute: z.int(),
  openOverTenMinutes: z.int(),
  openOverOneHour: z.int(),
  endedLastMinute: z.int(),
  endedLastHour: z.int().describe('As far as the retention reaches.'),
  oldestOpenAt: z.iso.datetime().optional().describe('When the oldest that is open began.'),
});
type Counts = z.infer<typeof Counts>;

const Overview = z
  .object({ elicitations: Counts, approvals: Counts, turns: Counts })
  .meta({ id: 'Overview', description: 'How much of a tenant is open, and how old it is.' });

const SAMPLE: Counts = {
  open: 12,
  openOverOneMinute: 9,
  openOverTenMinutes: 3,
  openOverOneHour: 0,
  endedLastMinute: 4,
  endedLastHour: 310,
  oldestOpenAt: '2026-01-15T09:30:00.000Z',
};

/** The route that counts what a tenant has, from the lists alone. */
export function overviewRoute(deps: Pick<AdminDeps, 'tenantLists'>): Route {
  return adminRoute({
    method: 'GET',
    path: '/v1/admin/overview',
    docs: {
      summary: 'Count what is open in a tenant, by its age',
      example: { reply: { elicitations: SAMPLE, approvals: SAMPLE, turns: SAMPLE } },
      replies: { 200: { description: 'By kind', schema: Overview } },
    },
    async handle({ caller: { tenant } }) {
      const [elicitations, approvals, turns] = await Promise.all(
        (['elicitations', 'approvals', 'turns'] as const).map((kind) => countsOf(deps, tenant, kind)),
      );
      return json(200, { elicitations, approvals, turns });
    },
  });
}

async function countsOf(
  { tenantLists }: Pick<AdminDeps, 'tenantLists'>,
  tenant: string,
  kind: ListedKind,
): Promise<Counts> {
  const [counts, [oldest]] = await Promise.all([
    tenantLists.count(
      tenant,
      kind,
      NAMES.map((name) => RANGES[name]),
    ),
    tenantLists.slice({ tenant, kind, state: 'open', order: 'oldest', limit: 1 }),
  ]);
  const counted = Object.fromEntries(NAMES.map((name, at) => [name, counts[at] ?? 0]));
  return {
    ...(counted as Record<keyof typeof RANGES, number>),
    ...(oldest !== undefined && { oldestOpenAt: new Date(oldest.at).toISOString() }),
  };
}

import type { ReachedQuota } from '../domain/runs/commands.ts';
import type { Limits } from '../ports/limits.ts';
import { type NewRun, type Runs, type RunWrite, tokensOf } from '../ports/runs/runs.ts';

/** The daily quotas of all people of one tenant together, enforced by all pods. */
export interface TenantQuotas {
  /** The maximum number of begun turns. It also limits new conversations. */
  readonly turns: number;
  /** The maximum number of model tokens. */
  readonly tokens: number;
  /** The maximum size of messages, steps and tool calls. Events of feeds repeat them and do not count. */
  readonly storedBytes: number;
}

const A_DAY_SECONDS = 86_400;
/** The user name of the tenant's budgets; no person can have it. */
const TENANT_USER = '\u0000tenant';

/**
 * Wraps runs so that the quotas of their tenants apply. These are counted separately from the writes, because they are in other
 * buckets: a running turn is never cut, but the next one is refused; and points that pods took in advance count as used. A turn
 * counts only once it has begun, so that refused requests use up nothing.
 */
export function withTenantQuotas(runs: Runs, limits: Pick<Limits, 'take'>, quotas: TenantQuotas): Runs {
  const budgets = { turns: quotas.turns, tokens: quotas.tokens, storage: quotas.storedBytes } as const;
  type Quota = keyof typeof budgets;

  const take = (tenant: string, quota: Quota, points: number) =>
    limits.take(
      `tenant-${quota}`,
      { tenant, userId: TENANT_USER },
      { points: budgets[quota], windowSeconds: A_DAY_SECONDS },
      points,
    );

  async function findReached(tenant: string): Promise<ReachedQuota | undefined> {
    const asked = ['turns', 'tokens', 'storage'] as const;
    const verdicts = await Promise.all(asked.map((quota) => take(tenant, quota, 0)));
    for (const [at, verdict] of verdicts.entries()) {
      const quota = asked[at] ?? 'turns';
      if (!verdict.allowed) return { of: 'tenant', quota, retryInMs: verdict.retryAfterSeconds * 1000 };
    }
    return undefined;
  }

  /** True for a turn that an earlier request with the same key has begun. */
  async function isKnown(run: NewRun): Promise<boolean> {
    return run.request !== undefined && (await runs.standing(run)) !== undefined;
  }

  function spend(tenant: string, spent: Partial<Record<Quota, number>>): void {
    const taking = (Object.entries(spent) as [Quota, number][])
      .filter(([, points]) => points > 0)
      .map(([quota, points]) => take(tenant, quota, points));
    // During an outage of Redis, the use is not counted.
    void Promise.allSettled(taking);
  }

  return {
    ...runs,
    async begin(run) {
      const isTurn = run.parent === undefined;
      const reached = isTurn ? await findReached(run.tenant) : undefined;
      if (reached !== undefined && !(await isKnown(run))) return { type: 'over-quota', ...reached };
      const result = await runs.begin(run);
      if (result.type === 'begun') spend(run.tenant, { turns: isTurn ? 1 : 0, storage: inputBytes(run) });
      return result;
    },
    async write(run, write) {
      const result = await runs.write(run, write);
      if (result === 'written' || result === 'stopping')
        spend(run.tenant, { tokens: tokensOf(write.notes ?? []), storage: noteBytes(write) });
      return result;
    },
  };
}

function inputBytes({ input, before = [] }: NewRun): number {
  return Buffer.byteLength(JSON.stringify([...before, ...input]));
}

function noteBytes({ notes = [], end }: RunWrite): number {
  const stored = [...notes, ...(end?.messages ?? [])];
  return stored.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0);
}

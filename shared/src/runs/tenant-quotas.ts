import type { ReachedQuota } from '../domain/runs/commands.ts';
import type { Limits } from '../ports/limits.ts';
import { type NewRun, type Runs, type RunWrite, tokensOf } from '../ports/runs/runs.ts';

/** What the turns of all people of one tenant may use in a day, over all pods. */
export interface TenantQuotas {
  /** Turns that begin, and so also new conversations. */
  readonly turns: number;
  /** Tokens of models. */
  readonly tokens: number;
  /** Bytes of messages, steps and tool calls. The events of the feeds repeat them and do not count. */
  readonly storedBytes: number;
}

const A_DAY_SECONDS = 86_400;
/** No user has this name: the budgets are the tenant's. */
const TENANT_USER = '\u0000tenant';

/**
 * The same runs, kept within the quotas of their tenants. These lie in other buckets than the runs, so they are counted
 * beside the writes: a turn that runs is not cut, the next one is refused, and what pods take ahead counts as used. A turn
 * counts once it has begun, so that requests that begin none take nothing from the others.
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

  /** True for a turn that an earlier request with its key has begun. */
  async function isKnown(run: NewRun): Promise<boolean> {
    return run.request !== undefined && (await runs.standing(run)) !== undefined;
  }

  function spend(tenant: string, spent: Partial<Record<Quota, number>>): void {
    const taking = (Object.entries(spent) as [Quota, number][])
      .filter(([, points]) => points > 0)
      .map(([quota, points]) => take(tenant, quota, points));
    // What cannot be counted while Redis is unavailable is not counted.
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

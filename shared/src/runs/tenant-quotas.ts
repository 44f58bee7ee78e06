import type { ChatQuota } from '../domain/runs/commands.ts';
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
 * beside the writes: a turn that runs is not cut, the next one is refused, and what pods take ahead counts as used.
 */
export function withTenantQuotas(runs: Runs, limits: Pick<Limits, 'take'>, quotas: TenantQuotas): Runs {
  const take = (tenant: string, quota: ChatQuota, budget: number, points = 1) =>
    limits.take(
      `tenant-${quota}`,
      { tenant, userId: TENANT_USER },
      { points: budget, windowSeconds: A_DAY_SECONDS },
      points,
    );

  async function findReached(tenant: string) {
    const budgets = [
      ['turns', quotas.turns],
      ['tokens', quotas.tokens],
      ['storage', quotas.storedBytes],
    ] as const;
    const verdicts = await Promise.all(budgets.map(([quota, budget]) => take(tenant, quota, budget)));
    for (const [at, verdict] of verdicts.entries()) {
      const [quota] = budgets[at] ?? ['turns'];
      if (!verdict.allowed)
        return { of: 'tenant', quota, retryInMs: verdict.retryAfterSeconds * 1000 } as const;
    }
    return undefined;
  }

  function spend(tenant: string, tokens: number, bytes: number): void {
    const spent = [
      ...(tokens > 0 ? [take(tenant, 'tokens', quotas.tokens, tokens)] : []),
      ...(bytes > 0 ? [take(tenant, 'storage', quotas.storedBytes, bytes)] : []),
    ];
    // What cannot be counted while Redis is away is not counted.
    void Promise.allSettled(spent);
  }

  return {
    ...runs,
    async begin(run) {
      const reached = run.parent === undefined ? await findReached(run.tenant) : undefined;
      if (reached !== undefined) return { type: 'over-quota', ...reached };
      const result = await runs.begin(run);
      if (result.type === 'begun') spend(run.tenant, 0, inputBytes(run));
      return result;
    },
    async write(run, write) {
      const result = await runs.write(run, write);
      if (result === 'written' || result === 'stopping')
        spend(run.tenant, tokensOf(write.notes ?? []), noteBytes(write));
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

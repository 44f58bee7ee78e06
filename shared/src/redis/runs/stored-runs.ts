import type { Owner } from '@parley/core/domain/ids';
import type { Commands } from '../client/connect.ts';
import { usageEndsKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

const PAGE = 500;
const RUN = 'run ';

/** Lists a person's stored runs, from the index of their usage, which also lists conversations. */
export async function listStoredRuns(
  redis: Commands,
  owner: Owner,
  limit: number,
  onError?: (error: unknown) => void,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let from = 0; found.length < limit; from += PAGE) {
    const members = await orUnavailable(
      () => redis.zrange(usageEndsKey(owner), `${from}`, `${from + PAGE - 1}`, 'REV'),
      onError,
    );
    found.push(...members.filter((one) => one.startsWith(RUN)).map((one) => one.slice(RUN.length)));
    if (members.length < PAGE) break;
  }
  return found.slice(0, limit);
}

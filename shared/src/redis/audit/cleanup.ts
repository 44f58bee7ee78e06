import { TIMEOUT_SECONDS_MAX } from '../../domain/elicitations/ask-input.ts';
import type { CleanupReport } from '../../ports/elicitations/audit.ts';
import type { KeyName } from '../client/key-names.ts';
import { type AuditDeps, sumOver } from './audit-deps.ts';
import { scanMembers, scanNames } from './scan.ts';

const LONGEST_TIMEOUT_MS = TIMEOUT_SECONDS_MAX * 1_000;
// Longer than any window or lease, which last seconds.
const LIMIT_MS = 60_000;

/** Sends off whatever would stay; when there was anything, looks at everything again for what is left. */
export async function cleanUp(deps: AuditDeps, signal?: AbortSignal): Promise<CleanupReport> {
  let seen = 0;
  let removed = 0;
  for await (const names of scanNames(deps, signal)) {
    const staying = await stayingOf(deps, names);
    seen += staying.length;
    removed += await sumOver(staying, (name) => deps.mend(() => sendOff(deps, name)));
    const histories = names.filter(({ family }) => family === 'history');
    await sumOver(histories, ({ key }) => deps.mend(() => trimHistory(deps, key, signal)));
  }
  let left = 0;
  if (seen > 0) {
    for await (const names of scanNames(deps, signal)) left += (await stayingOf(deps, names)).length;
  }
  return { removed, left };
}

/** Ended rows that stay too long, and keys without the time to live that their family has. */
async function stayingOf(deps: AuditDeps, names: readonly KeyName[]): Promise<readonly KeyName[]> {
  const rowNames = names.filter(({ family }) => family === 'elicitation');
  const { rows } = await deps.rows.survey(rowNames.map(({ rest }) => rest));
  const staying = new Set(
    rows.filter((row) => row.state === 'ended' && !deps.leaves(row)).map(({ id }) => id),
  );
  const mortal = names.filter((name) => lifeOf(deps, name) !== undefined);
  const lives = await deps.run(() => Promise.all(mortal.map(({ key }) => deps.redis.pttl(key))));
  return [
    ...rowNames.filter(({ rest }) => staying.has(rest)),
    ...mortal.filter((_, index) => lives[index] === -1),
  ];
}

/** Lets it live as long as it should have, unless it has got a time by now. Returns 1 when that was needed. */
async function sendOff(deps: AuditDeps, name: KeyName): Promise<number> {
  const life = lifeOf(deps, name);
  if (life === undefined) return (await deps.rows.repair(name.rest, [])) > 0 ? 1 : 0;
  return deps.run(() => deps.redis.pexpire(name.key, life, 'NX'));
}

/** For how long, in ms, anything of a family may be wanted at most; nothing for families that may stay. */
function lifeOf({ retentionMs }: AuditDeps, { family }: KeyName): number | undefined {
  switch (family) {
    case 'feed':
      // Somebody may have asked on it just now.
      return retentionMs + LONGEST_TIMEOUT_MS;
    case 'history':
      return retentionMs;
    case 'claim':
      return retentionMs + LONGEST_TIMEOUT_MS;
    case 'limit':
      return LIMIT_MS;
    default:
      return undefined;
  }
}

/** Forgets rows that have left. That is no fault: a history outlives them while its owner goes on answering. */
async function trimHistory(deps: AuditDeps, key: string, signal: AbortSignal | undefined): Promise<number> {
  let forgotten = 0;
  for await (const ids of scanMembers(deps, key, signal)) {
    const { rows } = await deps.rows.survey(ids);
    const gone = rows.filter(({ state }) => state === 'none');
    forgotten += await sumOver(gone, ({ id }) => deps.rows.repair(id, [{ key, lists: 'any' }]));
  }
  return forgotten;
}

import type { Owner } from '@parley/core/domain/ids';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { StoredRecord } from '@parley/shared/ports/elicitations/elicitations';
import { sha256 } from '@parley/shared/records/digest';

/**
 * The maximum number of pages that are read; each has a limited size. A person with more records sees older ones when these are
 * done.
 */
const PAGES_MAX = 3;
const PAGE_RECORDS = 100;

/** The newest open records of a person. */
export interface OpenRecords {
  readonly records: readonly StoredRecord[];
  readonly now: number;
  /** True if there are older ones. */
  readonly hasOlder: boolean;
}

/** Reads the newest open records of a person. Records past their deadline are omitted, even if nobody has noticed it yet. */
export async function readOpenRecords(
  { engine }: { readonly engine: Pick<Engine, 'openRecords'> },
  owner: Owner,
): Promise<OpenRecords> {
  const records: StoredRecord[] = [];
  let now = 0;
  let cursor: string | undefined;
  let pages = 0;
  do {
    const request = { owner, limit: PAGE_RECORDS };
    const page = await engine.openRecords(cursor === undefined ? request : { ...request, cursor });
    records.push(...page.records);
    now = page.now;
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== undefined && pages < PAGES_MAX);
  return {
    records: records.filter(({ row }) => now < row.expiresAt),
    now,
    hasOlder: cursor !== undefined,
  };
}

/**
 * The id of the group of calls that a person may decide together: those with the same agent, tool, rule and risk. The tool's
 * statements about itself must also be equal, because a page shows them once for all its calls. Undefined for a call that must
 * be decided separately, because its risk is high or unknown.
 */
export function groupIdOf({ definition }: Pick<ApprovalRow, 'definition'>): string | undefined {
  const { agentId, agent, tool, rule, risk } = definition;
  if (risk !== 'low' && risk !== 'medium') return undefined;
  return sha256(JSON.stringify(['group of calls', agentId, agent, tool, rule, risk]));
}

import { isParleyError } from '@parley/shared/domain/errors';
import type { Owner } from '@parley/shared/domain/ids';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { z } from 'zod';

/** Answers of a client that did not fit the form of a question. */
const Misfit = z.object({
  /** How many there were. */
  count: z.int(),
  /** What was wrong with the last one, for the person. */
  reason: z.string(),
});
export type Misfit = z.infer<typeof Misfit>;

/** The answers that did not fit, from any pod: the stream of the call, on whichever pod it is, asks again. */
export interface Misfits {
  /** Notes an answer. False where the question was asked again often enough. */
  note(owner: Owner, elicitationId: string, error: unknown): Promise<boolean>;
  find(owner: Owner, elicitationId: string): Promise<Misfit | undefined>;
}

// A client may answer by itself, and wrongly each time.
const AGAIN_MAX = 3;
const REASON_MAX = 500;
const SEPARATOR = '~';

/** The JSON-RPC id of a question that was asked so many times before. */
export function questionRequestId(elicitationId: string, { count }: Pick<Misfit, 'count'>): string {
  return count === 0 ? elicitationId : `${elicitationId}${SEPARATOR}${count}`;
}

/** The question of such an id. */
export function questionOfRequest(requestId: string): string {
  return requestId.split(SEPARATOR)[0] ?? '';
}

export function createMisfits(records: OwnerRecords, keepMs: number): Misfits {
  const nameOf = (elicitationId: string) => `mcp-misfit/${elicitationId}`;
  const parsed = (stored: string | undefined) =>
    stored === undefined ? undefined : Misfit.parse(JSON.parse(stored));
  return {
    async note(owner, elicitationId, error) {
      const name = nameOf(elicitationId);
      const stored = await records.read(owner, name);
      const count = (parsed(stored)?.count ?? 0) + 1;
      if (count > AGAIN_MAX) return false;
      const to = JSON.stringify({ count, reason: reasonOf(error) });
      // One of two at once is enough: the question is asked again once.
      await records.replace(owner, { name, from: stored, to, ttlMs: keepMs });
      return true;
    },
    find: async (owner, elicitationId) => parsed(await records.read(owner, nameOf(elicitationId))),
  };
}

function reasonOf(error: unknown): string {
  const issues = isParleyError(error) ? (error.issues ?? []) : [];
  const faults = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return ['The answer did not fit.', ...faults].join(' ').slice(0, REASON_MAX);
}

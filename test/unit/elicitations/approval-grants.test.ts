import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { createGrants } from '@parley/shared/elicitations/approvals/grants';
import { createMemoryOwnerRecords } from '@parley/shared/memory/owner-records';
import { expect, it } from 'vitest';

const DAY_MS = 86_400_000;
const SETTLED_AT = 1_700_000_000_000;
const OWNER = { tenant: 'acme', userId: 'ada' };

const row = {
  id: 'ap_00AAAAAAAAAAAAAAAAAAAAAA',
  definition: {
    ...OWNER,
    conversationId: 'talk',
    agent: 'Desk',
    agentId: 'desk',
    tool: { server: 'files', name: 'files_remove' },
    rule: 'always',
    remember: { days: 2 },
  },
  settlement: { decision: 'approve', remember: true },
  settledAt: SETTLED_AT,
} as unknown as ApprovalRow;

it('a remembered approval lasts from its decision on, also when a repeat of the decision stores it', async () => {
  const stored: number[] = [];
  const records = createMemoryOwnerRecords({ check: () => undefined }, { max: 1_000, beyond: 'drop' });
  const counted: typeof records = {
    ...records,
    async putIfAbsent(owner, name, value, ttlMs) {
      stored.push(ttlMs);
      return records.putIfAbsent(owner, name, value, ttlMs);
    },
  };
  const grants = createGrants(counted, DAY_MS);
  await grants.remember({ row, now: SETTLED_AT + 2 * DAY_MS }, true);
  expect(stored).toEqual([]);
  await grants.remember({ row, now: SETTLED_AT + DAY_MS }, true);
  expect(stored).toEqual([DAY_MS]);
  expect(await grants.list(OWNER)).toMatchObject([{ approvalId: row.id }]);
});

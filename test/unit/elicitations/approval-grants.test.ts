import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { createGrants } from '@parley/shared/elicitations/approvals/grants';
import { createMemoryOwnerRecords } from '@parley/shared/memory/owner-records';
import { describe, expect, it } from 'vitest';

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

const recordsOf = () => createMemoryOwnerRecords({ check: () => undefined }, { max: 3, beyond: 'drop' });

/** The approval of another tool, or of another call of the same one. */
const decided = (settledAt: number, name = 'files_remove', days = 2) => ({
  row: {
    ...row,
    id: `ap_${name}_${settledAt}`,
    settledAt,
    definition: { ...row.definition, tool: { server: 'files', name }, remember: { days } },
  } as ApprovalRow,
  now: settledAt,
});

it('a remembered approval lasts from its decision on, also when a repeat of the decision stores it', async () => {
  const stored: number[] = [];
  const records = recordsOf();
  const counted: typeof records = {
    ...records,
    async putIfAbsent(owner, name, value, ttlMs) {
      stored.push(ttlMs);
      return records.putIfAbsent(owner, name, value, ttlMs);
    },
  };
  const grants = createGrants(counted, DAY_MS);
  await grants.remember({ row, now: SETTLED_AT + 2 * DAY_MS });
  expect(stored).toEqual([]);
  await grants.remember({ row, now: SETTLED_AT + DAY_MS });
  expect(stored).toEqual([DAY_MS]);
  expect(await grants.list(OWNER)).toMatchObject([{ approvalId: row.id }]);
});

describe('a revocation', () => {
  const now = Date.now();
  const granted = async (grants: ReturnType<typeof createGrants>) =>
    (await grants.list(OWNER)).map(({ approvalId }) => approvalId);

  it.each([
    ['a repeat of the decision', now - DAY_MS, false],
    ['another decision that was given before it', now - 1, false],
    ['a decision that was given after it', now + 60_000, true],
  ])('meets %s', async (_what, settledAt, isGranted) => {
    const grants = createGrants(recordsOf(), DAY_MS);
    await grants.remember(decided(now - DAY_MS));
    const [grant] = await grants.list(OWNER);
    await grants.revoke(OWNER, grant?.grantId ?? '');
    await expect(grants.revoke(OWNER, grant?.grantId ?? '')).rejects.toMatchObject({ code: 'not_found' });
    const next = decided(settledAt);
    await grants.remember(next);
    expect(await granted(grants)).toEqual(isGranted ? [next.row.id] : []);
    expect((await grants.find(next.row.definition))?.approvalId).toBe(isGranted ? next.row.id : undefined);
  });

  it('by a pod of the version before meets a repeat of the decision, and no later one', async () => {
    const records = recordsOf();
    const grants = createGrants(records, DAY_MS);
    const [before, after] = [decided(now - DAY_MS), decided(now)];
    await grants.remember(before);
    const [{ grantId = '' } = {}] = await grants.list(OWNER);
    await records.putIfAbsent(OWNER, `approval-revoked ${grantId}`, before.row.id, 2 * DAY_MS);
    await records.remove(OWNER, `approval-grant ${grantId}`);
    await grants.remember(before);
    expect(await granted(grants)).toEqual([]);
    await grants.remember(after);
    expect(await granted(grants)).toEqual([after.row.id]);
  });

  it('stays when more is remembered than may be, however long that lasts', async () => {
    const grants = createGrants(recordsOf(), DAY_MS);
    await grants.remember(decided(now));
    const [grant] = await grants.list(OWNER);
    await grants.revoke(OWNER, grant?.grantId ?? '');
    for (const name of ['a', 'b', 'c', 'd']) await grants.remember(decided(now, name, 300));
    await grants.remember(decided(now));
    expect(await grants.list(OWNER)).toHaveLength(2);
    expect(await grants.find(decided(now).row.definition)).toBeUndefined();
  });

  it('of a grant that another decision takes over in the meantime ends that one, too', async () => {
    const records = recordsOf();
    const grants = createGrants(
      {
        ...records,
        async now(owner) {
          // Between what the revocation reads and what it writes.
          await records.removeAll(OWNER);
          await createGrants(records, DAY_MS).remember(decided(now - 5));
          return records.now(owner);
        },
      },
      DAY_MS,
    );
    await grants.remember(decided(now - DAY_MS));
    const [grant] = await grants.list(OWNER);
    await grants.revoke(OWNER, grant?.grantId ?? '');
    expect(await grants.list(OWNER)).toEqual([]);
  });
});

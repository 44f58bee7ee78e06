import { bucketOf, formatStreamPath, mintElicitationId, type Owner } from '@parley/core/domain/ids';
import type { Backend } from '@parley/shared/ports/backend';
import type { ListedKind, ListPlace, ListSliceRequest } from '@parley/shared/ports/tenant-lists';
import { describe, expect, it } from 'vitest';
import { decideAs, requestApproval } from '../../../harness/engines/approvals.ts';
import type { Contract } from '../../../harness/engines/contract.ts';
import { answerQuestion, askQuestion, newOwner, newStream } from '../../../harness/engines/questions.ts';
import { textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const ENDS = { status: 'finished', messages: [] } as const;

/** Walks a list in slices of `limit` to its end. */
async function walk({ tenantLists }: Backend, request: Omit<ListSliceRequest, 'after'>): Promise<string[]> {
  const found: string[] = [];
  let after: ListPlace | undefined;
  for (;;) {
    const places = await tenantLists.slice({ ...request, ...(after !== undefined && { after }) });
    found.push(...places.map(({ member }) => member));
    after = places.at(-1);
    if (places.length < request.limit) return found;
  }
}

/** Users of one tenant, in several buckets. */
function usersOf(tenant: string, count: number): Owner[] {
  return Array.from({ length: count }, (_, at) => ({ tenant, userId: `user-${at}@example.com` }));
}

function usersOfOneBucket(tenant: string, count: number): Owner[] {
  const users = usersOf(tenant, 1_000);
  const [first] = users;
  return users.filter((user) => first !== undefined && bucketOf(user) === bucketOf(first)).slice(0, count);
}

/** What begins and ends one of each kind, and the member that lists it. */
const KINDS: Readonly<
  Record<
    Exclude<ListedKind, 'deliveries'>,
    (contract: Contract, owner: Owner) => Promise<{ member: string; end: () => Promise<unknown> }>
  >
> = {
  async elicitations({ first, second }, owner) {
    const { row } = await askQuestion(first, owner);
    return { member: row.id, end: () => answerQuestion(second, owner, row.id, 'decline') };
  },
  async approvals({ first, second }, owner) {
    const stream = newStream(owner);
    const { row } = await requestApproval(first, stream);
    return { member: row.id, end: () => decideAs(second, stream, row.id, { decision: 'approve' }) };
  },
  async turns({ pods }, owner) {
    const run = turnOf(owner, newStream(owner).streamRequestId);
    await pods.backend.runs.begin(run);
    return {
      member: formatStreamPath(run),
      end: () => pods.second.runs.write(run, textWrite(2, 3, { end: ENDS })),
    };
  },
};

/** What a tenant has, over all of its users. */
export function tenantListContract(contract: Contract): void {
  describe.each(Object.entries(KINDS))('the %s of a tenant', (name, begin) => {
    const kind = name as keyof typeof KINDS;

    it('are listed from their begin, and from their end with what has ended, in either order and in slices of any size', async () => {
      const { tenant } = newOwner();
      const begun: Awaited<ReturnType<typeof begin>>[] = [];
      for (const owner of usersOf(tenant, 12)) begun.push(await begin(contract, owner));
      await begin(contract, newOwner());
      const members = begun.map(({ member }) => member);
      const ended = begun.filter((_, at) => at % 3 === 1);
      for (const { end } of ended.toReversed()) await end();
      const open = members.filter((member) => !ended.some((one) => one.member === member));
      const { second } = contract.pods;
      for (const limit of [2, 5, 100]) {
        const oldest = { tenant, kind, order: 'oldest', limit } as const;
        const newest = { ...oldest, order: 'newest' } as const;
        const walks = await Promise.all(
          (['open', 'ended'] as const).flatMap((state) =>
            [oldest, newest].map((request) => walk(second, { ...request, state })),
          ),
        );
        const [openOldest = [], openNewest = [], endedOldest = [], endedNewest = []] = walks;
        // Those of one millisecond are in the order of their names.
        expect([...openOldest].sort()).toEqual([...open].sort());
        expect(openNewest).toEqual(openOldest.toReversed());
        expect([...endedOldest].sort()).toEqual(ended.map(({ member }) => member).sort());
        expect(endedNewest).toEqual(endedOldest.toReversed());
      }
    });

    it('are in the order of time', async () => {
      const { tenant } = newOwner();
      const request = { tenant, kind, state: 'open', order: 'oldest', limit: 100 } as const;
      for (const owner of usersOf(tenant, 5)) await begin(contract, owner);
      const places = await contract.pods.backend.tenantLists.slice(request);
      const times = places.map(({ at }) => at);
      expect(times).toHaveLength(5);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    });

    it('are listed by their age', async () => {
      const { tenant } = newOwner();
      const request = { tenant, kind, order: 'newest', limit: 10 } as const;
      for (const owner of usersOf(tenant, 2)) {
        const { end } = await begin(contract, owner);
        if (owner.userId.startsWith('user-0')) await end();
      }
      const { tenantLists } = contract.pods.second;
      for (const state of ['open', 'ended'] as const) {
        const count = async (ages: { minAgeMs?: number; maxAgeMs?: number }) =>
          (await tenantLists.slice({ ...request, state, ...ages })).length;
        expect(await count({ minAgeMs: 0, maxAgeMs: 600_000 })).toBe(1);
        expect(await count({ minAgeMs: 600_000 })).toBe(0);
        await waitUntil(async () => (await count({ maxAgeMs: 5 })) === 0, { what: 'some ms to pass' });
        expect(await count({ minAgeMs: 5 })).toBe(1);
        const ranges = [{ state }, { state, minAgeMs: 600_000 }, { state, minAgeMs: 5, maxAgeMs: 600_000 }];
        expect(await tenantLists.count(tenant, kind, ranges)).toEqual([1, 0, 1]);
      }
    });

    it('of one person are listed by themselves', async () => {
      const { tenant } = newOwner();
      const [alice, ...others] = usersOf(tenant, 100) as [Owner, ...Owner[]];
      const bob = others.find((other) => bucketOf(other) !== bucketOf(alice)) ?? alice;
      const { member } = await begin(contract, alice);
      const request = { tenant, kind, state: 'open', order: 'newest', limit: 10 } as const;
      expect(await walk(contract.pods.second, { ...request, userId: alice.userId })).toEqual([member]);
      expect(await walk(contract.pods.second, { ...request, userId: bob.userId })).toEqual([]);
    });

    // Turns have no list of their person: a page leaves the others out.
    if (kind !== 'turns')
      it('that are open are found at once among many of others', async () => {
        const { tenant } = newOwner();
        const [alice, ...others] = usersOfOneBucket(tenant, 3) as [Owner, ...Owner[]];
        const { member } = await begin(contract, alice);
        for (const other of others) await begin(contract, other);
        for (const each of Object.values(KINDS)) await each(contract, alice);
        const request = { tenant, kind, state: 'open', order: 'newest', limit: 1 } as const;
        const found = await walk(contract.pods.second, { ...request, userId: alice.userId });
        expect(found).toHaveLength(2);
        expect(found).toContain(member);
      });

    it('change nothing where a place that is right is mended', async () => {
      const owner = newOwner();
      const { tenant } = owner;
      const { member, end } = await begin(contract, owner);
      const { tenantLists } = contract.pods.backend;
      const listed = (state: 'open' | 'ended') =>
        tenantLists.slice({ tenant, kind, state, order: 'newest', limit: 10 });
      for (const state of ['open', 'ended'] as const) {
        const before = await listed(state);
        expect(before).toEqual([{ at: expect.any(Number), member }]);
        await tenantLists.mend(tenant, kind, member);
        await tenantLists.mend(tenant, kind, kind === 'turns' ? 'no path' : mintElicitationId(owner));
        expect(await listed(state)).toEqual(before);
        if (state === 'open') await end();
      }
      expect(await listed('open')).toEqual([]);
    });
  });
}

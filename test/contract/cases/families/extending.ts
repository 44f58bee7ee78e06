import { bucketOf, mintRecordId } from '@parley/core/domain/ids';
import { EXTENSIONS_MAX } from '@parley/shared/domain/extend';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { FAMILY_DRIVERS } from '../../../harness/engines/families.ts';
import { callOutcome, expectCode, readAll, readEntries } from '../../../harness/engines/observe.ts';
import { askQuestion, newOwner, newStream, QUESTIONS, send } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const SOON = 1;
const HOUR = 3_600;
const WEEK = 604_800;
const SERVER_URL = 'url, server completion';

/** Deadlines that an operator moves. */
export function extendingContract(contract: Contract): void {
  describe.each(FAMILY_DRIVERS)('the deadline of each family, $name:', (family) => {
    const typesOf = async (stream: ReturnType<typeof newStream>) =>
      (await readEntries(contract.pods.backend.feed, stream)).map(({ event }) => event.type);

    it('is moved for every pod, and nothing settles the record at the earlier one', async () => {
      const { first, second, pods } = contract;
      const { elicitations } = pods.backend;
      const stream = newStream();
      const bucket = bucketOf(stream);
      const asked = await family.open(first, stream, { timeoutSeconds: SOON });
      const { id } = asked.row;
      const waited = family.wait(first, stream, id);
      const extended = await family.extend(second, asked, HOUR);
      expect(extended.row).toMatchObject({
        status: 'pending',
        revision: 2,
        expiresAt: asked.row.expiresAt + HOUR * 1000,
      });
      expect((await family.read(first, stream, id)).row).toEqual(extended.row);
      const isPast = async () => (await family.read(second, stream, id)).now >= asked.row.expiresAt;
      await waitUntil(isPast, { what: 'the earlier deadline', everyMs: 20 });
      const early = await first.expireFired([id]);
      expect(early.get(id)).toBeGreaterThan(HOUR * 900);
      expect(await second.expire(id)).toMatchObject({ type: 'early' });
      await second.expireDue({ bucket, batch: 8 });
      expect(await elicitations.due(bucket, 100)).not.toContain(id);
      expect((await family.read(second, stream, id)).row).toEqual(extended.row);
      // The first pod knows the row with the earlier deadline, which has passed.
      const decided = await family.decisions[0]?.send(first, stream, id);
      expect(decided?.row).toMatchObject({ status: family.decisions[0]?.status, revision: 3 });
      expect((await waited).row).toEqual(decided?.row);
    });

    it('is moved or the record is settled, each once, whichever comes first', async () => {
      const { first, second } = contract;
      const stream = newStream();
      const asked = await family.open(first, stream);
      const { id } = asked.row;
      const engines = [first, second, first, second];
      const [extensions, ends] = await Promise.all([
        Promise.all(engines.map((engine) => callOutcome(family.extend(engine, asked, HOUR)))),
        Promise.all(
          engines.flatMap((engine) =>
            family.decisions.map(({ send: decide }) => callOutcome(decide(engine, stream, id))),
          ),
        ),
      ]);
      const { row } = await family.read(first, stream, id);
      const moves = row.extensions?.length ?? 0;
      expect(moves).toBeLessThan(2);
      expect(row).toMatchObject({ revision: 2 + moves, settledAt: expect.any(Number) });
      expect(row.expiresAt).toBe(asked.row.expiresAt + moves * HOUR * 1000);
      for (const outcome of [...extensions, ...ends])
        if ('refusal' in outcome) expect(outcome.refusal).toMatchObject({ code: 'already_settled' });
      const updates = Array.from({ length: moves }, () => family.events.updated);
      expect(await typesOf(stream)).toEqual([family.events.request, ...updates, family.events.resolved]);
    });

    it('is moved once by two who saw the same, and is shown live with its event', async () => {
      const { first, second } = contract;
      const stream = newStream();
      const asked = await family.open(first, stream);
      const inbox = readAll(second.watchInbox({ owner: stream, signal: contract.signal() }));
      const events = readAll(await second.watch({ stream, evenIfSilent: false, signal: contract.signal() }));
      await Promise.all([inbox.first(1), events.first(1)]);
      const moved = await Promise.all(
        [first, second, first].map((engine) => family.extend(engine, asked, HOUR)),
      );
      const expiresAt = new Date(asked.row.expiresAt + HOUR * 1000).toISOString();
      for (const { row } of moved) expect(row).toEqual(moved[0]?.row);
      for (const reader of [inbox, events]) {
        const [, update] = await reader.first(2);
        expect(update).toMatchObject({ event: family.events.updated });
        expect(JSON.stringify(update)).toContain(`"expiresAt":"${expiresAt}"`);
      }
      const entries = await readEntries(contract.pods.backend.feed, stream);
      expect(entries.at(-1)?.event).toMatchObject({ type: family.events.updated, revision: 2, expiresAt });
    });

    it('is not moved beyond the longest time, too often, after its end, or of what is not there', async () => {
      const { first, second } = contract;
      const stream = newStream();
      const asked = await family.open(first, stream);
      await expectCode(family.extend(first, asked, WEEK), 'invalid_request');
      const longest = await family.extend(first, asked, WEEK - 600);
      expect(longest.row.expiresAt).toBe(asked.row.createdAt + WEEK * 1000);
      await expectCode(family.extend(second, longest, 1), 'invalid_request');
      let often = await family.open(first, stream);
      for (let time = 0; time < EXTENSIONS_MAX; time += 1) often = await family.extend(first, often, 1);
      await expectCode(family.extend(second, often, 1), 'invalid_request');
      const withdrawn = await family.open(first, stream);
      await family.withdraw(first, stream, withdrawn.row.id, 'superseded');
      await expectCode(family.extend(second, withdrawn, HOUR), 'already_settled');
      const due = await family.open(first, stream, { timeoutSeconds: 0.001 });
      const isDue = async () => (await family.read(first, stream, due.row.id)).now >= due.row.expiresAt;
      await waitUntil(isDue, { what: 'the deadline', everyMs: 5 });
      await expectCode(family.extend(second, due, HOUR), 'expired');
      const id = mintRecordId(family.name === 'approval' ? 'ap' : 'el', stream);
      await expectCode(family.extend(second, { ...asked, row: { ...asked.row, id } }, HOUR), 'not_found');
    });
  });

  it('the events of a question alone on its stream are those that a feed holds', async () => {
    const { first, second, pods } = contract;
    const [question] = FAMILY_DRIVERS;
    const owner = newOwner();
    const told = await Promise.all(
      [owner, newStream(owner)].map(async (asker) => {
        let seen = await askQuestion(first, asker, QUESTIONS[SERVER_URL]);
        const stream = seen.row.definition;
        const act = (action: 'accept' | 'complete') =>
          send(first, stream, seen.row.id, SERVER_URL, action) as Promise<typeof seen>;
        seen = (await question?.extend(second, seen, 60)) as typeof seen;
        seen = await act('accept');
        seen = (await question?.extend(second, seen, 60)) as typeof seen;
        await act('complete');
        const entries = await readEntries(pods.backend.feed, stream);
        return entries.map(({ event }) => {
          const { revision, status, expiresAt, type } = event as Record<string, unknown>;
          return [type, revision, status, expiresAt === undefined ? 0 : 1];
        });
      }),
    );
    const [alone, withFeed] = told;
    expect(alone).toEqual(withFeed);
    expect(alone).toEqual([
      ['elicitation-request', 1, 'pending', 0],
      ['elicitation-updated', 2, 'pending', 1],
      ['elicitation-updated', 3, 'opened', 0],
      ['elicitation-updated', 4, 'opened', 1],
      ['elicitation-resolved', 5, 'accepted', 0],
    ]);
  });
}

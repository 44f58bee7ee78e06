import { randomUUID } from 'node:crypto';
import { bucketOf } from '@parley/core/domain/ids';
import { NotifyRules } from '@parley/core/domain/notify';
import { withdrawOfTurn } from '@parley/shared/runs/open-questions';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { FAMILY_DRIVERS } from '../../../harness/engines/families.ts';
import { callOutcome, expectCode, readAll, readEntries } from '../../../harness/engines/observe.ts';
import { newStream, userOf } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const AT_ONCE = 0.001;
const NOTIFY = NotifyRules.parse({ channel: 'slack', afterSeconds: 60 });

/** What every family of records has, whatever its table of moves. */
export function familyContract(contract: Contract): void {
  describe.each(FAMILY_DRIVERS)('of every family, $name:', (family) => {
    const turn = () => newStream();

    it('a record is found by its key on any pod, and is the same one', async () => {
      const { first, second } = contract;
      const stream = turn();
      const key = randomUUID();
      const one = await family.open(first, stream, { key });
      const other = await family.open(second, stream, { key, timeoutSeconds: 60 });
      expect(other.row).toEqual(one.row);
      expect((await family.read(second, stream, one.row.id)).row).toEqual(one.row);
    });

    it('a race of all decisions on two pods has one winner, whose repeat succeeds', async () => {
      const { first, second, pods } = contract;
      const stream = turn();
      const { row } = await family.open(first, stream);
      const racers = Array.from({ length: 6 }, () => family.decisions).flat();
      const ends = await Promise.all(
        racers.map(async ({ status, send }, at) => ({
          status,
          end: await callOutcome(send(at % 2 === 0 ? first : second, stream, row.id)),
        })),
      );
      const after = (await family.read(second, stream, row.id)).row;
      for (const { status, end } of ends) {
        if (status === after.status) expect(end).toMatchObject({ value: { row: after } });
        else expect(end).toMatchObject({ refusal: { code: 'already_settled' } });
      }
      const types = (await readEntries(pods.backend.feed, stream)).map(({ event }) => event.type);
      expect(types).toEqual([family.events.request, family.events.resolved]);
    });

    it('a waiter on another pod returns with the decision', async () => {
      const { first, second } = contract;
      for (const { status, send } of family.decisions) {
        const stream = turn();
        const { row } = await family.open(first, stream);
        const waited = family.wait(first, stream, row.id);
        const sent = await send(second, stream, row.id);
        expect((await waited).row).toEqual(sent.row);
        expect(sent.row).toMatchObject({ status, settledAt: expect.any(Number) });
      }
    });

    it('what is overdue is expired by the index, and a late decision is refused', async () => {
      const { first, second, pods } = contract;
      const stream = turn();
      const { row } = await family.open(first, stream, { timeoutSeconds: AT_ONCE });
      const isDue = async () => (await pods.backend.elicitations.due(bucketOf(stream), 100)).includes(row.id);
      await waitUntil(isDue, { what: 'the deadline', everyMs: 5 });
      await second.expireDue({ bucket: bucketOf(stream), batch: 8 });
      expect((await family.read(first, stream, row.id)).row.status).toBe('expired');
      expect(await isDue()).toBe(false);
      for (const { send } of family.decisions) await expectCode(send(second, stream, row.id), 'expired');
    });

    it('another owner finds nothing', async () => {
      const { first, second } = contract;
      const stream = turn();
      const { row } = await family.open(first, stream);
      for (const stranger of [turn(), { ...stream, userId: 'somebody' }])
        for (const { send } of family.decisions)
          await expectCode(send(second, stranger, row.id), 'not_found');
    });

    it('its inbox has the snapshot and every change, its stream every event, and neither an answer', async () => {
      const { first, second } = contract;
      const stream = turn();
      const before = await family.open(first, stream);
      const inbox = readAll(second.watchInbox({ owner: stream, signal: contract.signal() }));
      const [snapshot] = await inbox.first(1);
      if (snapshot?.type !== 'snapshot') throw new Error('It did not begin with a snapshot.');
      expect(family.listed(snapshot)).toEqual([before.row.id]);
      const { row } = await family.open(first, stream);
      const inInbox = (status: string | undefined) =>
        waitUntil(
          () =>
            inbox.seen.some((item) => {
              const shown = family.shown(item);
              return shown?.id === row.id && shown.status === status;
            }),
          { what: `${status} in the inbox`, everyMs: 5 },
        );
      // An inbox does not show the end of what ended before it could show it as open.
      await inInbox('pending');
      await family.decisions[0]?.send(second, stream, row.id);
      const ended = { id: row.id, status: family.decisions[0]?.status };
      await inInbox(ended.status);
      const events = readAll(await second.watch({ stream, evenIfSilent: false, signal: contract.signal() }));
      expect((await events.first(3)).map((item) => family.shown(item))).toEqual([
        { id: before.row.id, status: 'pending' },
        { id: row.id, status: 'pending' },
        ended,
      ]);
      expect(JSON.stringify([inbox.seen, events.seen])).not.toContain('"content":');
    });

    it('each commit notes a task of the channel that notifies its person', async () => {
      const { first, second, pods } = contract;
      const stream = turn();
      const { row } = await family.open(first, stream, { notify: NOTIFY });
      const { outbox } = pods.backend;
      const handedOut = async () => {
        const entries = await outbox.take(bucketOf(stream), { slack: 100 }, 60_000);
        const own = entries.filter(({ task }) => task.subject === row.id);
        for (const entry of own) await outbox.done(entry);
        return own.map(({ task }) => task.kind);
      };
      expect(await handedOut()).toEqual(['slack']);
      await family.decisions[0]?.send(second, stream, row.id);
      expect(await handedOut()).toEqual(['slack']);
    });

    it('a notice is due after its time, and later where the person has seen the record', async () => {
      const { first, second } = contract;
      const stream = turn();
      const reminding = { ...NOTIFY, remind: { afterSeconds: 300, atMost: 1 } };
      const due = async (id: string, afterMs: number) => {
        const { row } = await family.read(second, stream, id);
        return second.notices.dueInMs(row, row.createdAt + afterMs);
      };
      const unseen = await family.open(first, stream, { notify: NOTIFY });
      expect(await due(unseen.row.id, 20_000)).toBe(40_000);
      expect(await due(unseen.row.id, 60_000)).toBe(0);
      const plain = await family.open(first, stream);
      expect(await due(plain.row.id, 60_000)).toBeUndefined();
      const seen = await family.open(first, stream, { notify: NOTIFY });
      const reminded = await family.open(first, stream, { notify: reminding });
      for (const record of [seen, reminded]) await family.see(first, stream, record);
      const halfMs = ({ row }: typeof seen) => (row.expiresAt - row.createdAt) / 2;
      const laterMs = (record: typeof seen, ms: number) =>
        Math.max(60_000, Math.min(ms, halfMs(record))) - 60_000;
      expect(await due(seen.row.id, 60_000)).toBe(laterMs(seen, 600_000));
      expect(await due(reminded.row.id, 60_000)).toBe(laterMs(reminded, 360_000));
      await family.see(first, { ...stream, userId: 'somebody' }, unseen);
      expect(await due(unseen.row.id, 60_000)).toBe(0);
      await family.decisions[0]?.send(first, stream, unseen.row.id);
      expect(await due(unseen.row.id, 60_000)).toBeUndefined();
    });

    it('the end of its turn withdraws it', async () => {
      const { first, second } = contract;
      const stream = turn();
      const { row } = await family.open(first, stream);
      const { conversationId } = row.definition;
      await withdrawOfTurn(second, { ...stream, conversationId });
      expect((await family.read(first, stream, row.id)).row).toMatchObject({
        status: 'withdrawn',
        settlement: { reason: 'run_stopped' },
      });
    });
  });

  it('lists of one family show nothing of the other', async () => {
    const { first, second } = contract;
    const stream = newStream();
    const opened = await Promise.all(FAMILY_DRIVERS.map((family) => family.open(first, stream)));
    const lists = await Promise.all([
      second.list({ owner: stream, limit: 10 }),
      second.approvals.list({ owner: stream, limit: 10 }),
    ]);
    expect(lists.map(({ rows }) => rows.map(({ id }) => id))).toEqual(opened.map(({ row }) => [row.id]));
    const ofAnother = opened.map(({ row }) => row.id).reverse();
    await expectCode(second.read(userOf(stream), ofAnother[0] ?? ''), 'not_found');
    await expectCode(second.approvals.read(userOf(stream), ofAnother[1] ?? ''), 'not_found');
  });
}

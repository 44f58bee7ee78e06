import type { Row } from '@parley/shared/domain/elicitations/row';
import { isTerminal, type Status } from '@parley/shared/domain/elicitations/status';
import type { StreamRef } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { callOutcome, readEntries } from '../../../harness/engines/observe.ts';
import { askKind, askQuestion, newStream, send, serviceOf } from '../../../harness/engines/questions.ts';
import {
  CELLS,
  type Cell,
  type Column,
  type From,
  KINDS,
  type Kind,
} from '../../../harness/tables/elicitation-transitions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

// Ended at its first look: a deadline so near that it has passed when the store is asked again.
const AT_ONCE = 0.001;

const WAYS: Readonly<Record<Exclude<From, 'overdue' | 'opened overdue'>, readonly Column[]>> = {
  pending: [],
  opened: [],
  accepted: ['accept'],
  declined: ['decline'],
  cancelled: ['cancel'],
  expired: ['expire'],
  withdrawn: ['withdraw'],
};

interface Standing {
  readonly stream: StreamRef;
  readonly id: string;
}

/** Asks a question and brings it to where the cell begins. */
async function bringTo(engine: Engine, kind: Kind, from: From): Promise<Standing> {
  if (from === 'opened overdue') return bringToOpenedOverdue(engine, kind);
  const stream = newStream();
  const timeoutSeconds = from === 'overdue' || from === 'expired' ? AT_ONCE : 600;
  const { row } = await askKind(engine, stream, kind, { timeoutSeconds });
  if (timeoutSeconds === AT_ONCE) await untilOverdue(engine, stream, row.id);
  if (from === 'overdue') return { stream, id: row.id };
  if (from === 'opened') await send(engine, stream, row.id, kind, consentTo(kind));
  for (const way of WAYS[from]) await send(engine, stream, row.id, kind, way);
  if (kind === 'url, server completion' && from === 'accepted') {
    await send(engine, stream, row.id, kind, 'complete');
  }
  return { stream, id: row.id };
}

/** The column that is consent to open the page. */
function consentTo(kind: Kind): Column {
  return kind === 'form on its page' ? 'open' : 'accept';
}

async function bringToOpenedOverdue(engine: Engine, kind: Kind): Promise<Standing> {
  // On a busy machine the deadline may come before the consent: then once more, with more time.
  for (const timeoutSeconds of [0.25, 1, 4]) {
    const stream = newStream();
    const { row } = await askKind(engine, stream, kind, { timeoutSeconds });
    const opened = await callOutcome(send(engine, stream, row.id, kind, consentTo(kind)));
    if ('refusal' in opened) continue;
    await untilOverdue(engine, stream, row.id);
    return { stream, id: row.id };
  }
  throw new Error('The machine is too slow to open a question within seconds.');
}

async function untilOverdue(engine: Engine, stream: StreamRef, id: string): Promise<void> {
  const due = async () => {
    const { row, now } = await engine.read(serviceOf(stream), id);
    return now >= row.expiresAt;
  };
  await waitUntil(due, { what: 'the deadline', everyMs: 2 });
}

/** Plays one cell on the engine, and checks what the row and the feed say of it. */
async function play({ pods, first, second }: Contract, cell: Cell): Promise<void> {
  const { stream, id } = await bringTo(first, cell.kind, cell.from);
  const before = (await first.read(serviceOf(stream), id)).row;
  const countBefore = (await readEntries(pods.backend.feed, stream)).length;

  const end = await callOutcome(send(second, stream, id, cell.kind, cell.command));
  const after = (await first.read(serviceOf(stream), id)).row;
  const added = (await readEntries(pods.second.feed, stream)).slice(countBefore).map(({ event }) => event);

  const moved = after.revision !== before.revision;
  if ('refusal' in end) {
    expect({ ...cell, outcome: { refused: end.refusal.code } }).toEqual(cell);
    const shown = ['already_settled', 'expired'].includes(end.refusal.code) ? after.status : undefined;
    expect(end.refusal.elicitation?.status).toBe(shown);
  } else {
    expect({ ...cell, outcome: moved ? { moves: after.status } : 'same' }).toEqual(cell);
    expect(end.value.row).toEqual(after);
  }
  // What was still open past its deadline was expired on the way, if anybody looked.
  const expired = cell.from.endsWith('overdue') && after.status === 'expired';
  expect(moved).toBe(expired || (typeof cell.outcome === 'object' && 'moves' in cell.outcome));
  if (!moved) expect(after).toEqual(before);
  expect(added.map(({ type }) => type)).toEqual(
    moved ? [isTerminal(after.status) ? 'elicitation-resolved' : 'elicitation-updated'] : [],
  );
  if (moved) checkMove(before, after, added[0]);
}

function checkMove(before: Row, after: Row, event: unknown): void {
  const { id, status, revision, settlement } = after;
  expect(revision).toBe(before.revision + 1);
  expect(event).toMatchObject({ elicitationId: id, revision, status });
  expect(after.definition).toEqual(before.definition);
  expect([after.createdAt, after.expiresAt]).toEqual([before.createdAt, before.expiresAt]);
  expect(after.settledAt !== undefined).toBe(isTerminal(status));
  if (after.settledAt === undefined) return;
  if (status === 'expired') expect(after.settledAt).toBeGreaterThanOrEqual(after.expiresAt);
  else expect(after.settledAt).toBeLessThan(after.expiresAt);
  const action = { accepted: 'accept', declined: 'decline', cancelled: 'cancel' }[status as string];
  expect(settlement?.action).toBe(action);
  expect(settlement?.reason).toBe(status === 'withdrawn' ? 'superseded' : undefined);
}

/** The whole transition table, through the engine and across two pods. */
export function settlingContract(contract: Contract): void {
  it('an ending that only a newer build knows is passed on, wakes waiters, and is refused to be changed', async () => {
    const { first, second, pods } = contract;
    const stream = newStream();
    const { row } = await askQuestion(first, stream);
    const caller = serviceOf(stream);
    const waited = first.wait({ caller, id: row.id, timeoutMs: 20_000 });
    const status = 'approved' as Status;
    const event = { type: 'elicitation-resolved', elicitationId: row.id, revision: 2, status } as const;
    const commit = () =>
      pods.second.elicitations.commit(row, { status, settlement: {}, event, guard: 'open' });
    expect((await commit()).committed).toBe(true);
    expect((await waited).row.status).toBe(status);
    expect((await second.read(caller, row.id)).row).toMatchObject({ status, settledAt: expect.any(Number) });
    for (const command of ['accept', 'decline', 'withdraw'] as const) {
      expect(await callOutcome(send(second, stream, row.id, 'form', command)), command).toMatchObject({
        refusal: { code: 'already_settled' },
      });
    }
    expect(await second.expire(row.id)).toEqual({ type: 'ended' });
    expect((await second.list({ owner: stream, limit: 10 })).rows.map((each) => each.status)).toEqual([
      status,
    ]);
  });

  describe('commands by the table', () => {
    for (const kind of KINDS) {
      const froms = new Set(CELLS.filter((cell) => cell.kind === kind).map(({ from }) => from));
      for (const from of froms) {
        it(`${kind}: ${from}`, async () => {
          const cells = CELLS.filter((cell) => cell.kind === kind && cell.from === from);
          await Promise.all(cells.map((cell) => play(contract, cell)));
        });
      }
    }
  });
}

import { isTerminal, type Status } from '@parley/core/domain/elicitations/status';
import type { StreamRef } from '@parley/core/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { callOutcome, readEntries, untilDue } from '../../../harness/engines/observe.ts';
import { askKind, newStream, send, serviceOf } from '../../../harness/engines/questions.ts';
import { sized } from '../../../harness/proof-size.ts';
import {
  CELLS,
  COLUMNS,
  type Column,
  type From,
  KINDS,
  type Kind,
} from '../../../harness/tables/elicitation-transitions.ts';

const SLOTS = 4;
const RUNS = sized(400, 40);
/** The servers' arrangement changes where commands run, not what the table says. */
const RUNS_ON_TOPOLOGY = sized(400, 8);

type Op =
  | {
      readonly op: 'ask';
      readonly slot: number;
      readonly pod: number;
      readonly kind: Kind;
      readonly overdue: boolean;
    }
  | { readonly op: 'send'; readonly slot: number; readonly pod: number; readonly column: Column };

/** What one question should look like, as the written table has it. */
interface Model {
  readonly id: string;
  readonly kind: Kind;
  from: From;
  revision: number;
  /** Which of the two valid answers was recorded. */
  recorded: Column;
}

const slot = fc.nat({ max: SLOTS - 1 });
const pod = fc.nat({ max: 1 });
const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    {
      weight: 1,
      arbitrary: fc.record({
        op: fc.constant('ask' as const),
        slot,
        pod,
        kind: fc.constantFrom(...KINDS),
        overdue: fc.oneof(
          { weight: 4, arbitrary: fc.constant(false) },
          { weight: 1, arbitrary: fc.constant(true) },
        ),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        op: fc.constant('send' as const),
        slot,
        pod,
        column: fc.constantFrom(...COLUMNS),
      }),
    },
  ),
  { minLength: 5, maxLength: 30 },
);

/** The cell that a command meets: to a row answered with `other`, the columns `accept` and `other` change places. */
function cellOf(model: Model, column: Column) {
  const turned = { accept: 'other', other: 'accept' }[column as string] as Column | undefined;
  const settled = model.from === 'accepted' && model.recorded === 'other';
  const command = model.kind.startsWith('form') && settled ? (turned ?? column) : column;
  return CELLS.find(
    (cell) => cell.kind === model.kind && cell.from === model.from && cell.command === command,
  );
}

/** Plays operations on two pods and on the model, and compares them after each. */
async function play(
  engines: readonly [Engine, Engine],
  contract: Contract,
  list: readonly Op[],
): Promise<void> {
  const stream = newStream();
  const slots = new Map<number, Model>();
  const log: string[] = [];
  const everAsked: Model[] = [];
  for (const op of list) {
    const engine = engines[op.pod] ?? engines[0];
    if (op.op === 'ask') {
      const model = await ask(engine, stream, op);
      slots.set(op.slot, model);
      everAsked.push(model);
      log.push(`${model.id} 1 pending`);
      continue;
    }
    const model = slots.get(op.slot);
    const cell = model && cellOf(model, op.column);
    if (model !== undefined && cell !== undefined)
      await step(engine, stream, model, op.column, cell.outcome, log);
  }
  await compare(contract, stream, everAsked, log);
}

async function ask(engine: Engine, stream: StreamRef, { kind, overdue }: Op & { op: 'ask' }): Promise<Model> {
  const timeoutSeconds = overdue ? 0.001 : 600;
  const { row } = await askKind(engine, stream, kind, { timeoutSeconds });
  if (overdue) await untilDue(engine, row);
  return { id: row.id, kind, from: overdue ? 'overdue' : 'pending', revision: 1, recorded: 'accept' };
}

async function step(
  engine: Engine,
  stream: StreamRef,
  model: Model,
  column: Column,
  outcome: (typeof CELLS)[number]['outcome'],
  log: string[],
): Promise<void> {
  const end = await callOutcome(send(engine, stream, model.id, model.kind, column));
  const refused = typeof outcome === 'object' && 'refused' in outcome ? outcome.refused : undefined;
  expect('refusal' in end ? end.refusal.code : undefined).toBe(refused);
  const moves = typeof outcome === 'object' && 'moves' in outcome ? outcome.moves : undefined;
  const next = model.from === 'overdue' && refused === 'expired' ? 'expired' : moves;
  if (next !== undefined) {
    model.from = next;
    model.revision += 1;
    if (next === 'accepted') model.recorded = column;
    log.push(`${model.id} ${model.revision} ${next}`);
  }
  if ('value' in end) expect(end.value.row).toMatchObject({ status: model.from, revision: model.revision });
  else
    expect(end.refusal.elicitation?.status).toBe(
      isShown(end.refusal.code) ? statusOf(model.from) : undefined,
    );
}

/** Whether a refusal shows the question as it stands. */
function isShown(code: string): boolean {
  return code === 'already_settled' || code === 'expired';
}

/** Compares rows, lists and the feed with what the model expects. */
async function compare(
  { first, second, pods }: Contract,
  stream: StreamRef,
  models: readonly Model[],
  log: readonly string[],
): Promise<void> {
  const entries = await readEntries(pods.second.feed, stream);
  const replayed = entries.map(
    ({ event }) => 'elicitationId' in event && `${event.elicitationId} ${event.revision} ${event.status}`,
  );
  expect(replayed).toEqual(log);
  const { rows } = await first.list({ owner: stream, limit: 100 });
  const expected = models.map(({ id, from, revision }) => ({ id, status: statusOf(from), revision }));
  const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
  expect(rows.map(({ id, status, revision }) => ({ id, status, revision })).sort(byId)).toEqual(
    [...expected].sort(byId),
  );
  for (const { id, kind, recorded, from } of models) {
    const { row } = await second.read(serviceOf(stream), id);
    const colour =
      kind.startsWith('form') && from === 'accepted'
        ? { accept: 'red', other: 'green' }[recorded as string]
        : undefined;
    expect(row.settlement?.content?.colour).toBe(colour);
    const action = { accepted: 'accept', declined: 'decline', cancelled: 'cancel' }[row.status as string];
    expect([row.settlement?.action, row.settlement?.reason]).toEqual([
      action,
      row.status === 'withdrawn' ? 'superseded' : undefined,
    ]);
    const { settledAt, expiresAt } = row;
    expect(settledAt !== undefined).toBe(isTerminal(row.status));
    if (settledAt !== undefined) expect(settledAt >= expiresAt).toBe(row.status === 'expired');
  }
  const open = await second.list({ owner: stream, statuses: ['pending', 'opened'], limit: 100 });
  expect(open.rows.every(({ status }) => !isTerminal(status))).toBe(true);
  expect(open.rows).toHaveLength(expected.filter(({ status }) => !isTerminal(status)).length);
}

function statusOf(from: From): Status {
  if (from === 'overdue') return 'pending';
  return from === 'opened overdue' ? 'opened' : from;
}

/** Random commands on two pods against the written table. */
export function modelContract(contract: Contract): void {
  describe('any sequence of commands', () => {
    it('has the results of the table, on two pods', async () => {
      const engines = [contract.first, contract.second] as const;
      await fc.assert(
        fc.asyncProperty(ops, (list) => play(engines, contract, list)),
        { numRuns: contract.isTopology ? RUNS_ON_TOPOLOGY : RUNS },
      );
    });
  });
}

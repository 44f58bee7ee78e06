import type { StreamRef } from '@parley/core/domain/ids';
import { DETACHED, type RunRef, UNOWNED } from '@parley/shared/domain/runs/run';
import type { Backend } from '@parley/shared/ports/backend';
import type { NewRun, RunWrite } from '@parley/shared/ports/runs/runs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { readEntries } from '../../../harness/engines/observe.ts';
import { answerQuestion, askQuestion, newStream } from '../../../harness/engines/questions.ts';
import { textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';
import { sized } from '../../../harness/proof-size.ts';
import { runCell } from '../../../harness/tables/run-transitions.ts';
import {
  apply,
  beginOf,
  fromOf,
  type Model,
  newModel,
  type Op,
  ops,
  PODS,
  SLOTS,
  TOO_LARGE,
  TURN_BYTES_MAX,
} from './run-model.ts';

const PLAYS = sized(500, 50);
/** The servers' arrangement changes where commands run, not what the table says. */
const PLAYS_ON_TOPOLOGY = sized(500, 10);

/** What all plays on one back end share. */
interface Stage {
  readonly pods: readonly [Backend, Backend];
  readonly questions: { readonly open: string; readonly ended: string };
  readonly stream: StreamRef;
}

/** One play: its runs, and in which order they ended. */
class Play {
  readonly models = new Map<number, Model>();
  readonly ended: Model[] = [];
  private readonly streams = Array.from({ length: SLOTS }, () => newStream());
  private readonly talk = newStream().streamRequestId;

  private readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  async run(list: readonly Op[]): Promise<void> {
    for (const one of list) {
      if (!one.isEarly && !this.models.has(one.slot)) await this.step({ ...one, column: 'begin, same call' });
      await this.step(one);
    }
    await this.compare();
  }

  private refOf({ slot, isShared }: Op): NewRun {
    const { tenant, userId } = this.stage.stream;
    const streamRequestId = this.streams[slot]?.streamRequestId ?? '';
    const conversationId = isShared ? this.talk : `${this.talk}-${slot}`;
    return { ...turnOf({ tenant, userId }, conversationId), streamRequestId };
  }

  private runningIn(conversationId: string): Model | undefined {
    return [...this.models.values()].find(
      (model) => model.turn.conversationId === conversationId && model.state !== 'ended',
    );
  }

  /** Sends one command to the run and to the model, and compares result and standing. */
  private async step(given: Op): Promise<void> {
    const backend = this.stage.pods[given.pod] ?? this.stage.pods[0];
    const model = this.models.get(given.slot);
    const type = given.column.split(',')[0];
    if (type === 'begin') await this.begin(backend, given, model);
    else if (type === 'stop') {
      const { result, changes } = runCell(given.column, fromOf(model));
      expect(await backend.runs.stop(this.refOf(given))).toBe(result === 'stopping');
      if (model !== undefined && changes) model.stopRequested = true;
    } else if (type === 'claim' || type === 'release') await this.takeOver(backend, given, model);
    else await this.write(backend, given, model);
    await this.compareStanding(given);
  }

  private async begin(backend: Backend, given: Op, model: Model | undefined): Promise<void> {
    const turn = beginOf(given, model, this.refOf(given));
    const running = model === undefined ? this.runningIn(turn.conversationId) : undefined;
    const cell = runCell(running === undefined ? given.column : 'begin, turn running', fromOf(model));
    // The row speaks of a conversation in which another turn runs.
    if (given.column === 'begin, turn running' && running === undefined && model === undefined) return;
    const result = await backend.runs.begin(turn);
    expect(result.type).toBe(cell.result);
    if (result.type === 'running')
      expect(result).toEqual({
        type: 'running',
        streamRequestId: running?.turn.streamRequestId,
        owner: running?.owner,
        term: running?.term,
      });
    if (result.type === 'begun')
      expect(result).toEqual({ type: 'begun', term: model?.term ?? 1, writerSeq: model?.seq ?? 1 });
    if (result.type === 'known')
      expect(result).toEqual({ type: 'known', conversationId: model?.turn.conversationId });
    if (cell.changes) this.models.set(given.slot, newModel(turn));
  }

  private async takeOver(
    backend: Backend,
    { column, ...given }: Op,
    model: Model | undefined,
  ): Promise<void> {
    const { term = 1, owner = given.owner, state } = model ?? {};
    const cell = runCell(column, fromOf(model));
    const variant = column.split(', ')[1];
    const named = term - ({ again: 1, 'old term': 2 }[variant ?? ''] ?? 0);
    const pod = given.owner === UNOWNED ? PODS[0] : given.owner;
    const claimer = variant === 'again' && state === 'owned' ? owner : pod;
    const next = column.startsWith('claim') ? claimer : UNOWNED;
    const result = await backend.runs.takeOver(this.refOf({ column, ...given }), named, next);
    expect(result).toBe(cell.result === 'granted' ? term + cell.termRise : undefined);
    if (model === undefined || !cell.changes) return;
    apply(model, cell);
    model.owner = next;
    model.writes = 0;
  }

  private async write(backend: Backend, given: Op, model: Model | undefined): Promise<void> {
    const { column } = given;
    const written = this.writeOf(given, model);
    if (written === undefined) return;
    const cell = runCell(column, fromOf(model));
    expect(await backend.runs.write(model?.turn ?? this.refOf(given), written)).toBe(cell.result);
    if (model === undefined || !cell.changes) return;
    const { events, number = model.writes, end, detach } = written;
    Object.assign(model, {
      seq: model.seq + events.length,
      writes: number,
      lastWrite: written,
      noted: number,
    });
    apply(model, cell);
    if (detach !== undefined) Object.assign(model, { owner: DETACHED, wasDetached: true });
    if (end === undefined) return;
    model.status = end.status === 'failed' ? 'failed' : 'finished';
    this.ended.push(model);
  }

  /** The write of that row, or nothing where the run cannot meet it: it has had no write yet, or only one. */
  private writeOf({ column, slot, isForRun }: Op, model: Model | undefined): RunWrite | undefined {
    const { term = 1, seq = 1, writes = 0, lastWrite, status } = model ?? {};
    const [type, variant] = column.split(', ');
    if (variant === 'again')
      return lastWrite?.term === term && lastWrite.end === undefined ? lastWrite : undefined;
    if (variant === 'late copy' && writes < 2) return undefined;
    const number = variant === 'late copy' ? writes - 1 : writes + 1;
    const isRepeatedEnd = type === 'end' && status !== 'running' && variant !== 'more events';
    const from = (isRepeatedEnd ? seq : seq + 1) + (variant === 'gap' ? 1 : 0);
    const note = {
      toolCallId: 'call',
      toolName: 'book',
      step: 0,
      state: 'intended',
      output: number,
    } as const;
    const write: RunWrite = {
      ...textWrite(from, from, { number, notes: [{ type: 'call', call: note }] }),
      term: variant === 'old term' ? term - 1 : term,
    };
    if (variant === 'empty') return { term, number, firstSeq: seq + 1, events: [] };
    if (variant === 'too large')
      return { ...write, events: [{ type: 'text-delta', block: 'b', text: TOO_LARGE }] };
    if (type === 'detach') return { ...write, detach: this.waits(slot, isForRun, variant === 'wait ended') };
    if (type !== 'end') return write;
    const recorded = status === 'failed' ? 'failed' : 'finished';
    const other = recorded === 'failed' ? 'finished' : 'failed';
    const end = { status: variant === 'other status' ? other : recorded, messages: [] } as const;
    return { ...write, end: { ...end, messages: [{ role: 'assistant', content: 'Done' }] } };
  }

  private waits(slot: number, isForRun: boolean, hasEnded: boolean): NonNullable<RunWrite['detach']> {
    const { open, ended } = this.stage.questions;
    const other = (slot + 1) % SLOTS;
    const isOtherDetached = this.models.get(other)?.owner === DETACHED;
    const runs = isForRun && isOtherDetached !== hasEnded ? [this.streams[other]?.streamRequestId ?? ''] : [];
    return { questions: [hasEnded && runs.length === 0 ? ended : open], runs };
  }

  private async compareStanding(given: Op): Promise<void> {
    const model = this.models.get(given.slot);
    const { runs } = this.stage.pods[1 - given.pod] ?? this.stage.pods[0];
    const standing = await runs.standing(this.refOf(given));
    if (model === undefined) return expect(standing).toBeUndefined();
    const { turn, status, owner, term, deaths, takeOvers } = model;
    const { conversationId } = turn;
    expect(standing).toEqual({ conversationId, status, owner, term, deaths, takeOvers });
  }

  /** Compares records, feeds, conversations and the index of running turns with the models. */
  private async compare(): Promise<void> {
    const [backend, second] = this.stage.pods;
    for (const model of this.models.values()) {
      const { run } = await second.runs.read(model.turn);
      expect(run).toMatchObject({ writerSeq: model.seq, status: model.status });
      expect(run?.calls[0]?.output).toBe(model.noted);
      expect(await readEntries(backend.feed, model.turn)).toHaveLength(model.seq);
      await this.compareConversation(model.turn);
    }
    const [one, ...others] = PODS;
    for (const owners of [new Set<string>([one]), new Set<string>([...others, UNOWNED, DETACHED])]) {
      const indexed = new Map<string, number>();
      for await (const { stream, term } of second.runs.ownedBy(owners))
        indexed.set(stream.streamRequestId, term);
      for (const { turn, state, ...model } of this.models.values()) {
        const isIndexed = owners.has(model.owner) && (state === 'owned' || state === 'queued');
        expect(indexed.get(turn.streamRequestId)).toBe(isIndexed ? model.term : undefined);
      }
    }
  }

  private async compareConversation(turn: RunRef): Promise<void> {
    const { conversationId } = turn;
    const ended = this.ended.filter((model) => model.turn.conversationId === conversationId);
    const last = ended.at(-1);
    const { running, last: recorded, messages } = await this.stage.pods[0].conversations.read(turn);
    expect(running).toBe(this.runningIn(conversationId)?.turn.streamRequestId);
    expect(messages).toHaveLength(ended.length);
    expect(recorded).toEqual(
      last && { streamRequestId: last.turn.streamRequestId, wasDetached: last.wasDetached },
    );
  }
}

/** Random commands to runs against the written table, through both pods. */
export function runsModelContract(contract: Contract): void {
  describe('any sequence of commands to runs', () => {
    it('has the results and leaves the runs in the states of the table', async () => {
      const { backend, second } = await contract.openWith({ turnBytesMax: TURN_BYTES_MAX });
      const engine = engineOn(backend);
      const stream = newStream();
      const [open, ended] = [await askQuestion(engine, stream), await askQuestion(engine, stream)];
      await answerQuestion(engine, stream, ended.row.id, 'decline');
      const questions = { open: open.row.id, ended: ended.row.id };
      const stage: Stage = { pods: [backend, second], questions, stream };
      await fc.assert(
        fc.asyncProperty(ops, (list) => new Play(stage).run(list)),
        { numRuns: contract.isTopology ? PLAYS_ON_TOPOLOGY : PLAYS },
      );
    });
  });
}

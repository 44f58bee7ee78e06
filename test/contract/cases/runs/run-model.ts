import { DETACHED, type RunRequest, UNOWNED } from '@parley/shared/domain/runs/run';
import type { NewRun, RunWrite } from '@parley/shared/ports/runs/runs';
import fc from 'fast-check';
import {
  RUN_COLUMNS,
  type RunCell,
  type RunColumn,
  type RunFrom,
} from '../../../harness/tables/run-transitions.ts';

export const SLOTS = 3;
export const TURN_BYTES_MAX = 4_000;
export const TOO_LARGE = 'x'.repeat(TURN_BYTES_MAX);
export const PODS = ['pod-a', 'pod-b', 'pod-c'] as const;
type State = NonNullable<RunCell['state']>;

/** One command: a row of the table, to a run, through a pod, with what the row leaves open. */
export interface Op {
  readonly slot: number;
  readonly pod: number;
  readonly column: RunColumn;
  /** Sent although the run is absent; else a run that is absent is begun first. */
  readonly isEarly: boolean;
  /** The pod that begins or claims the run; `UNOWNED` begins it for any pod. */
  readonly owner: string;
  /** Of a begin: one conversation for all runs, or one of its own. */
  readonly isShared: boolean;
  /** Of a begin: under a key. */
  readonly isKeyed: boolean;
  /** Of a detach: for the run of another slot, not only for a question. */
  readonly isForRun: boolean;
}

/** Commands that move a run on; an end is rare, for few rows are of interest after it. */
const MOVES: readonly RunColumn[] = ['write', 'write', 'detach', 'detach', 'claim', 'release', 'stop'];
const op: fc.Arbitrary<Op> = fc.record({
  slot: fc.constantFrom(0, 0, 0, 1, 1, 2),
  pod: fc.nat({ max: 1 }),
  column: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...MOVES) },
    { weight: 4, arbitrary: fc.constantFrom(...RUN_COLUMNS) },
  ),
  isEarly: fc.constantFrom(false, false, false, false, false, false, false, true),
  owner: fc.constantFrom(...PODS, UNOWNED),
  isShared: fc.boolean(),
  isKeyed: fc.boolean(),
  isForRun: fc.boolean(),
});
export const ops = fc.array(op, { minLength: 5, maxLength: 30, size: 'max' });

/** What one run should look like. */
export interface Model {
  readonly turn: NewRun;
  state: State;
  stopRequested: boolean;
  wasDetached: boolean;
  owner: string;
  term: number;
  deaths: number;
  takeOvers: number;
  seq: number;
  /** Number of the last write; the next one has the next. */
  writes: number;
  /** The last write of the present term. */
  lastWrite?: RunWrite;
  /** What the one note of the run has. */
  noted?: number;
  status: 'running' | 'finished' | 'failed';
}

export function fromOf(model: Model | undefined): RunFrom {
  if (model === undefined) return 'absent';
  return model.stopRequested && model.state !== 'ended' ? `${model.state}-stop` : model.state;
}

export function apply(model: Model, { state, termRise, deaths }: RunCell): void {
  model.state = state ?? model.state;
  model.term += termRise;
  model.deaths += deaths;
  model.takeOvers += deaths;
}

export function newModel(turn: NewRun): Model {
  return {
    turn,
    state: turn.owner === UNOWNED ? 'queued' : 'owned',
    stopRequested: false,
    wasDetached: false,
    owner: turn.owner,
    term: 1,
    deaths: 0,
    takeOvers: 0,
    seq: 1,
    writes: 0,
    status: 'running',
  };
}

/** The call of that row: to a run that exists, from its present owner where it is the same call. */
export function beginOf({ column, owner, isKeyed }: Op, model: Model | undefined, turn: NewRun): NewRun {
  const keyed: RunRequest | undefined = isKeyed ? { digest: 'digest', nonce: 'nonce' } : undefined;
  const request = model === undefined ? keyed : model.turn.request;
  const present = model === undefined ? owner : model.owner;
  const same = { ...turn, owner: present === DETACHED ? 'pod-a' : present, ...(request && { request }) };
  if (model === undefined) return same;
  if (column === 'begin, other request') return { ...same, request: { digest: 'other', nonce: 'other' } };
  if (column !== 'begin, other call') return same;
  return request === undefined
    ? { ...same, owner: 'pod-z' }
    : { ...same, request: { ...request, nonce: 'other' } };
}

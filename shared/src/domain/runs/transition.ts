/**
 * The total table of what each command does to a run, the only statement of these rules in TypeScript. The memory back end
 * applies it, and the scripts in `redis/runs` implement it; storing the result is not here.
 */

import type {
  ClaimResult,
  OwnerWrite,
  RunCommand,
  RunCommands,
  RunCommandType,
  RunControl,
  RunResults,
} from './commands.ts';
import { DETACHED, UNOWNED } from './run.ts';

/**
 * The states of an existing run. `queued`: any pod may claim it. `owned`: a pod works on it. `detached`: it waits for the end
 * of a question or of a delegate's run. `ended`: it is over.
 */
export const RUN_STATES = ['queued', 'owned', 'detached', 'ended'] as const;
type RunState = (typeof RUN_STATES)[number];

/** The change that a command makes. */
interface RunChange {
  readonly control: RunControl;
  /** The index of the command's first event that the feed does not have yet. */
  readonly firstNew: number;
}

interface RunDecision<Type extends RunCommandType = RunCommandType> {
  readonly result: RunResults[Type];
  /** Absent when the command changes nothing. */
  readonly change?: RunChange;
}

type Cells<Row> = {
  readonly [Type in RunCommandType]: (run: Row, command: RunCommands[Type]) => RunDecision<Type>;
};

interface RunTransitions extends Readonly<Record<RunState, Cells<RunControl>>> {
  readonly absent: Cells<undefined>;
}

/** The decision for every state and every command. A missing cell is a compile error. */
export const RUN_TRANSITIONS: RunTransitions = {
  absent: {
    begin,
    write: gone,
    detach: gone,
    end: gone,
    stop: gone,
    claim: gone,
    release: gone,
  },
  // A run without an owner accepts writes under its current term, because a pod that ends an orphan releases it first.
  queued: { begin: beginAgain, write, detach, end, stop, claim, release },
  owned: { begin: beginAgain, write, detach, end, stop, claim: takeOver, release },
  detached: { begin: beginKnown, write, detach, end, stop, claim, release },
  ended: {
    begin: beginKnown,
    write: fenced,
    detach: fenced,
    end: endAgain,
    stop: () => ({ result: 'ended' }),
    claim: fenced,
    release: fenced,
  },
};

/**
 * Decides what a command does to a run; pure. `run` is undefined when there is none, or its retention has ended. The term rises
 * with every change of owner, and a command under another term changes nothing.
 */
export function transitionRun<Type extends RunCommandType>(
  run: RunControl | undefined,
  command: RunCommand<Type>,
): RunDecision<Type> {
  if (run === undefined) return RUN_TRANSITIONS.absent[command.type](undefined, command);
  return RUN_TRANSITIONS[stateOf(run)][command.type](run, command);
}

export function stateOf({ status, owner }: Pick<RunControl, 'status' | 'owner'>): RunState {
  if (status !== 'running') return 'ended';
  if (owner === DETACHED) return 'detached';
  return owner === UNOWNED ? 'queued' : 'owned';
}

function begin(_run: undefined, command: RunCommands['begin']): RunDecision<'begin'> {
  const { owner, conversationId, parent, request, eventBytes, running, reached } = command;
  // The quota is checked first: on `running`, the caller may end the running turn to make room for this one, which must then
  // not be refused.
  if (reached !== undefined) return { result: { type: 'over-quota', ...reached } };
  if (running !== undefined) return { result: { type: 'running', ...running } };
  const control: RunControl = {
    conversationId,
    status: 'running',
    owner,
    term: 1,
    deaths: 0,
    takeOvers: 0,
    stepsAtDeath: 0,
    writerSeq: 1,
    bytes: eventBytes[0],
    writes: 0,
    stopRequested: false,
    wasDetached: false,
    ...(parent !== undefined && { parent }),
    ...(request !== undefined && { request }),
  };
  return { result: { type: 'begun', term: 1, writerSeq: 1 }, change: { control, firstNew: 0 } };
}

/** The same call gets the same result as long as its owner still owns the run. */
function beginAgain(run: RunControl, command: RunCommands['begin']): RunDecision<'begin'> {
  const isSameCall = run.owner === command.owner && run.request?.nonce === command.request?.nonce;
  if (!isSameCall) return beginKnown(run, command);
  return { result: { type: 'begun', term: run.term, writerSeq: run.writerSeq } };
}

function beginKnown(run: RunControl, { request }: RunCommands['begin']): RunDecision<'begin'> {
  if (run.request?.digest !== request?.digest) return { result: { type: 'mismatch' } };
  return { result: { type: 'known', conversationId: run.conversationId } };
}

function write(run: RunControl, command: RunCommands['write']): RunDecision<'write'> {
  const settled = settledWrite(run, command);
  if (settled !== undefined) return { result: settled };
  const change = append(run, command);
  if (change.control.bytes > command.bytesMax) return { result: 'full' };
  return { result: run.stopRequested ? 'stopping' : 'written', change };
}

function detach(run: RunControl, command: RunCommands['detach']): RunDecision<'detach'> {
  const settled = settledWrite(run, command);
  if (settled !== undefined) return { result: settled };
  if (command.waitEnded || run.stopRequested) return { result: 'wait-ended' };
  const { control, firstNew } = append(run, command);
  const detached = { ...control, owner: DETACHED, term: run.term + 1, wasDetached: true };
  return { result: 'written', change: { control: detached, firstNew } };
}

function end(run: RunControl, command: RunCommands['end']): RunDecision<'end'> {
  const settled = settledWrite(run, command);
  if (settled !== undefined) return { result: settled };
  const { control, firstNew } = append(run, command);
  return { result: 'written', change: { control: { ...control, status: command.status }, firstNew } };
}

/** A repeat of the same end, after its reply was lost, succeeds. */
function endAgain(run: RunControl, command: RunCommands['end']): RunDecision<'end'> {
  const isSame =
    run.term === command.term && run.status === command.status && run.writerSeq >= lastSeq(command);
  return { result: isSame ? 'written' : 'fenced' };
}

function stop(run: RunControl): RunDecision<'stop'> {
  if (run.stopRequested) return { result: 'stopping' };
  return { result: 'stopping', change: { control: { ...run, stopRequested: true }, firstNew: 0 } };
}

/** A pod claims a run that its last owner gave up. */
function claim(run: RunControl, { term, owner }: RunCommands['claim']): RunDecision<'claim'> {
  return changeOwner(run, term, { owner });
}

/**
 * A pod claims a run that its last owner did not give up. The count of quick deaths restarts only after an owner both finished
 * a step and lived for long: a run may take long to kill its pod, and it may also write and then kill its pod each time. The
 * count of all take-overs never restarts.
 */
function takeOver(run: RunControl, claimed: RunCommands['claim']): RunDecision<'claim'> {
  const { term, owner, diedSoon, steps } = claimed;
  const kept = steps > run.stepsAtDeath ? 0 : run.deaths;
  const deaths = diedSoon ? run.deaths + 1 : kept;
  return changeOwner(run, term, { owner, deaths, takeOvers: run.takeOvers + 1, stepsAtDeath: steps });
}

function release(run: RunControl, { term }: RunCommands['release']): RunDecision<'release'> {
  return changeOwner(run, term, { owner: UNOWNED });
}

function changeOwner(
  run: RunControl,
  term: number,
  next: Pick<RunControl, 'owner'> & Partial<Pick<RunControl, 'deaths' | 'takeOvers' | 'stepsAtDeath'>>,
): { readonly result: ClaimResult; readonly change?: RunChange } {
  // The same claim is sent again after its reply was lost.
  if (run.term === term + 1 && run.owner === next.owner) return { result: { term: run.term } };
  if (run.term !== term) return { result: 'fenced' };
  const control = { ...run, ...next, term: term + 1, writes: 0 };
  return { result: { term: control.term }, change: { control, firstNew: 0 } };
}

/**
 * The result of a write that changes nothing, because it has another term, or a later write came before it, or events in front
 * of it are missing.
 */
function settledWrite(
  run: RunControl,
  { term, number, firstSeq }: OwnerWrite,
): 'fenced' | 'written' | 'behind' | undefined {
  if (run.term !== term) return 'fenced';
  if (number !== undefined && run.writes > number) return 'written';
  return firstSeq > run.writerSeq + 1 ? 'behind' : undefined;
}

function append(run: RunControl, write: OwnerWrite): RunChange {
  const { eventBytes, noteCount, number = run.writes } = write;
  const firstNew = Math.min(eventBytes.length, Math.max(0, run.writerSeq - write.firstSeq + 1));
  const isNew = firstNew < eventBytes.length;
  const control = {
    ...run,
    writerSeq: isNew ? lastSeq(write) : run.writerSeq,
    bytes: eventBytes.slice(firstNew).reduce((sum, bytes) => sum + bytes, run.bytes),
    // An empty write changes nothing, however late it comes, so it takes no ordinal.
    writes: eventBytes.length + noteCount > 0 ? number : run.writes,
  };
  return { control, firstNew };
}

function lastSeq({ firstSeq, eventBytes }: OwnerWrite): number {
  return firstSeq + eventBytes.length - 1;
}

function gone(): { readonly result: 'gone' } {
  return { result: 'gone' };
}

function fenced(): { readonly result: 'fenced' } {
  return { result: 'fenced' };
}

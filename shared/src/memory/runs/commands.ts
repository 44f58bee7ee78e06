import type { ReachedQuota, RunCommand, RunningTurn } from '../../domain/runs/commands.ts';
import { UNOWNED } from '../../domain/runs/run.ts';
import type { TurnEvent } from '../../domain/runs/turn-events.ts';
import type { NewRun, RunWrite } from '../../ports/runs/runs.ts';

/** What the decision on a write depends on, apart from the run and the write. */
interface WriteFacts {
  /** The maximum total size of a run's events. */
  readonly bytesMax: number;
  /** True when something for which the run would wait has ended. */
  readonly waitEnded: boolean;
}

/** Builds the `begin` command. `running` is another running turn of the conversation, and `reached` an exhausted quota. */
export function beginCommand(
  run: NewRun,
  running: RunningTurn | undefined,
  reached: ReachedQuota | undefined,
): RunCommand<'begin'> {
  const { owner, conversationId, parent, request, event } = run;
  return {
    type: 'begin',
    owner,
    conversationId,
    eventBytes: [bytesOf(event)],
    ...(parent !== undefined && { parent }),
    ...(request !== undefined && { request }),
    ...(running !== undefined && { running }),
    ...(reached !== undefined && { reached }),
  };
}

export function writeCommand(
  { term, number, firstSeq, events, notes = [], end, detach }: RunWrite,
  { bytesMax, waitEnded }: WriteFacts,
): RunCommand<'write' | 'detach' | 'end'> {
  const write = {
    term,
    firstSeq,
    eventBytes: events.map(bytesOf),
    noteCount: notes.length,
    ...(number !== undefined && { number }),
  };
  if (end !== undefined) return { type: 'end', ...write, status: end.status };
  if (detach !== undefined) return { type: 'detach', ...write, waitEnded };
  return { type: 'write', ...write, bytesMax };
}

export function takeOverCommand(
  term: number,
  owner: string,
  facts: Pick<RunCommand<'claim'>, 'diedSoon' | 'steps'>,
): RunCommand<'claim' | 'release'> {
  return owner === UNOWNED ? { type: 'release', term } : { type: 'claim', term, owner, ...facts };
}

function bytesOf({ type: _type, ...data }: TurnEvent): number {
  return Buffer.byteLength(JSON.stringify(data));
}

import type { StreamRef } from '@parley/core/domain/ids';
import { type Run, type RunStanding, UNOWNED } from '../domain/runs/run.ts';
import { cutReply, splitSteps, textOfStep } from '../domain/runs/steps.ts';
import type { Engine } from '../elicitations/engine.ts';
import type { Runs } from '../ports/runs/runs.ts';
import { INTERRUPTED, type OWNERS_DIED } from './interruption.ts';
import { withdrawOfRun, withdrawOfTurn } from './open-questions.ts';

interface EndOrphanDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  readonly runs: Runs;
}

/**
 * Ends a run that no pod shall continue, with its delegates and their open questions. The conversation keeps the complete
 * steps, whose tool calls may have had effects, and the text of the last one. Throws `unavailable`; repeatable.
 */
export async function endOrphan(
  deps: EndOrphanDeps,
  stream: StreamRef,
  seen: Pick<RunStanding, 'owner' | 'term'>,
  failure: typeof INTERRUPTED | typeof OWNERS_DIED = INTERRUPTED,
): Promise<void> {
  const { engine, runs } = deps;
  // If a later call here fails, the run has no owner, and every later attempt can continue.
  const term = seen.owner === UNOWNED ? seen.term : await runs.takeOver(stream, seen.term, UNOWNED);
  if (term === undefined) return;
  const { run } = await runs.read(stream);
  if (run === undefined) return;
  await endDelegates(deps, run);
  // The questions of a delegate are on the stream of its turn, together with others that must stay open.
  if (run.parent === undefined) await withdrawOfTurn(engine, run);
  else await withdrawOfRun(engine, run);
  await runs.write(run, {
    term,
    firstSeq: run.writerSeq + 1,
    events: [{ type: 'turn-failed', ...failure }],
    end: { status: 'failed', messages: run.parent === undefined ? rememberedMessages(run) : [] },
  });
}

async function endDelegates(deps: EndOrphanDeps, { tenant, userId, calls }: Run): Promise<void> {
  for (const { run: streamRequestId } of calls) {
    if (streamRequestId === undefined) continue;
    const stream = { tenant, userId, streamRequestId };
    const standing = await deps.runs.standing(stream);
    if (standing?.status === 'running') await endOrphan(deps, stream, standing);
  }
}

function rememberedMessages(run: Run) {
  const { whole, unfinished } = splitSteps(run);
  const cut = unfinished === undefined ? [] : cutReply(textOfStep(unfinished));
  return [...run.input, ...whole.flatMap(({ messages }) => messages), ...cut];
}

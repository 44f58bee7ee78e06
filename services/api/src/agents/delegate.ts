import { mintStreamRequestId, type Owner } from '@parley/shared/domain/ids';
import type { Message, RunRef } from '@parley/shared/domain/run';
import type { FinishReason } from '@parley/shared/domain/turn-events';
import type { Engine } from '@parley/shared/engine/engine';
import { untilBack } from '@parley/shared/engine/outage';
import type { Runs } from '@parley/shared/ports/runs';
import { createBudget } from './budget.ts';
import type { Delegate, DelegatingCall, Working } from './call-tool.ts';
import { ModelError } from './model-step.ts';
import { breakTurn, finishTurn, TurnTooLongError } from './run-end.ts';
import { type RunAgent, runSteps } from './run-steps.ts';
import { createRunWriter, TurnTooLargeError } from './run-writer.ts';
import type { ToolOutcome } from './tool.ts';
import { startWorkClock } from './work-clock.ts';

// The configuration allows no circles; what is longer than this is none that anybody wants.
const DEPTH_MAX = 5;

export interface DelegateDeps {
  readonly engine: Pick<Engine, 'withdraw'>;
  readonly runs: Pick<Runs, 'begin' | 'write'>;
  readonly agents: {
    find(id: string): { readonly id: string; readonly title: string };
    open(id: string, principal: Owner, signal: AbortSignal): Promise<RunAgent>;
  };
  /** The pod that writes the runs. */
  readonly owner: string;
}

/**
 * Runs another agent on a task: a run with a record, a feed and a conversation of its own, none of which is a chat's.
 * Its answer is the outcome. What its tools do is told on the turn's stream, and what it asks is asked there. It ends
 * with whoever delegated; it counts to their tokens and, but for its waits, to their time.
 */
export function createDelegate(deps: DelegateDeps): Delegate {
  return async (call, id, task) => {
    const { from } = call;
    const { title } = deps.agents.find(id);
    if (from.depth >= DEPTH_MAX) {
      return failed(`${title} was not asked: ${DEPTH_MAX} agents already wait for each other.`);
    }
    const { tenant, userId } = from.run;
    const agent = await deps.agents.open(id, { tenant, userId }, from.signal);
    const streamRequestId = mintStreamRequestId();
    const run: RunRef = { tenant, userId, streamRequestId, conversationId: streamRequestId };
    await call.note(streamRequestId);
    return runDelegate(deps, call, { ...agent, id, title, run, task });
  };
}

interface Commission extends RunAgent {
  readonly id: string;
  readonly title: string;
  readonly run: RunRef;
  readonly task: string;
}

async function runDelegate(
  deps: DelegateDeps,
  call: DelegatingCall,
  commission: Commission,
): Promise<ToolOutcome> {
  const { from } = call;
  const { run, title, task } = commission;
  const input: Message[] = [{ role: 'user', content: task }];
  const writer = await beginRun(deps, call, commission, input);
  const clock = startWorkClock(commission.limits.workMs, from.clock);
  const budget = createBudget(commission.limits.tokens, from.budget);
  const ending = new AbortController();
  const working: Working = {
    ...from,
    run,
    writer,
    clock,
    budget,
    open: new Set(),
    id: commission.id,
    title,
    agent: commission.id,
    depth: from.depth + 1,
    signal: AbortSignal.any([from.signal, writer.lost, clock.over, ending.signal]),
  };
  const said: Message[] = [];
  try {
    const talk = { heard: input, said };
    const reason = await runSteps(working, commission, talk, (why) => ending.abort(why));
    await finishTurn({ writer }, [], reason, budget.used);
    return outcomeOf(title, reason, textOf(said.at(-1)));
  } catch (error) {
    ending.abort(error);
    const cause = clock.over.aborted ? new TurnTooLongError() : error;
    // Whoever delegated ends too then, and has the words for it.
    const onFault = from.signal.aborted ? () => undefined : from.onFault;
    if (!from.signal.aborted) await withdrawOpen(deps, working);
    await breakTurn({ writer, stopped: from.signal, onFault }, [], cause, budget.used);
    from.signal.throwIfAborted();
    return failed(`${title} could not finish the task: ${reasonOf(cause)}`);
  } finally {
    clock.stop();
  }
}

async function beginRun(
  { runs, owner }: DelegateDeps,
  { from, toolCallId }: DelegatingCall,
  { id, run }: Commission,
  input: readonly Message[],
) {
  const { streamRequestId, conversationId } = run;
  const begun = await untilBack(
    () =>
      runs.begin({
        ...run,
        agent: id,
        owner,
        parent: { streamRequestId: from.run.streamRequestId, toolCallId },
        input,
        event: {
          type: 'turn-started',
          conversationId,
          messageId: `msg_${streamRequestId.slice(3)}`,
          agent: id,
        },
      }),
    from.signal,
  );
  if (begun.type !== 'begun') throw new Error('A conversation of its own had another turn.');
  return createRunWriter({ runs, run, ...begun });
}

/** Takes back what a delegate asked that gave up while the turn goes on. */
async function withdrawOpen({ engine }: DelegateDeps, { run, open, onFault }: Working): Promise<void> {
  const caller = { kind: 'service', tenant: run.tenant } as const;
  await Promise.all(
    [...open].map((id) =>
      untilBack(() => engine.withdraw({ caller, id, reason: 'run_stopped' })).catch(onFault),
    ),
  );
}

function outcomeOf(title: string, reason: FinishReason, text: string): ToolOutcome {
  if (reason === 'step-limit') return failed(`${title} reached its limit before it was done.`);
  if (reason === 'content-filter') return failed(`The answer of ${title} was held back by a content filter.`);
  return text === '' ? failed(`${title} ended without an answer.`) : { type: 'returned', output: text };
}

function reasonOf(error: unknown): string {
  if (error instanceof ModelError) return 'its model could not answer. It may do so a moment later.';
  if (error instanceof TurnTooLongError) return 'it took too long.';
  if (error instanceof TurnTooLargeError) return 'it said too much.';
  return 'something went wrong on our side.';
}

/** The words of an assistant's message. */
function textOf(message: Message | undefined): string {
  const content: unknown = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { type?: unknown; text?: unknown }) => (part.type === 'text' ? part.text : ''))
    .join('');
}

function failed(message: string): ToolOutcome {
  return { type: 'failed', message };
}

import { isParleyError } from '@parley/shared/domain/errors';
import type { CallRecord, Message, RunRef } from '@parley/shared/domain/run';
import type { TurnEvent } from '@parley/shared/domain/turn-events';
import type { Engine } from '@parley/shared/engine/engine';
import type { Budget } from './budget.ts';
import type { RequestedCall } from './model-step.ts';
import type { TurnObserver } from './observer.ts';
import { type AskOutcome, askPerson, type Question } from './question.ts';
import type { RunWriter } from './run-writer.ts';
import { failed, type Support, type Tool, type ToolCall, type ToolOutcome } from './tool.ts';
import type { WorkClock } from './work-clock.ts';

/** What the runs of one turn share: its own, and those of the agents it delegates to. */
export interface TurnScope {
  /** The turn's own run: its stream request and its conversation take every question. */
  readonly run: RunRef;
  readonly support: Support;
  /** Tells the turn's readers something, soon. */
  readonly tell: (event: TurnEvent) => Promise<void>;
  /** Resolves once all of that is told. */
  readonly told: () => Promise<void>;
  /** Looks whether the turn was asked to stop. */
  readonly look: () => Promise<void>;
  /** Ids of all tool calls so far: unique within the turn, whichever agent makes them. */
  readonly callIds: Set<string>;
  /** Questions that were begun and have not come to an end. */
  asking: number;
}

/** A run at work. */
export interface Working {
  readonly engine: Pick<Engine, 'ask' | 'wait' | 'withdraw'>;
  readonly turn: TurnScope;
  readonly run: RunRef;
  readonly writer: RunWriter;
  readonly clock: WorkClock;
  readonly budget: Budget;
  /** Ids of the questions that this run has open. */
  readonly open: Set<string>;
  /** The agent that works, as the configuration and as people know it; questions name it. */
  readonly id: string;
  readonly title: string;
  readonly observer: Pick<TurnObserver, 'called' | 'chat'>;
  /** The delegate whose calls are told on the turn's stream too; absent for a run that its own feed tells of. */
  readonly agent?: string;
  /** How many agents stand between this one and the person. */
  readonly depth: number;
  readonly delegate: Delegate;
  readonly signal: AbortSignal;
  readonly onFault: (error: unknown) => void;
}

/** What a delegate has from whoever delegated, on this pod or on another one. */
export type Delegator = Pick<
  Working,
  'engine' | 'turn' | 'clock' | 'budget' | 'observer' | 'depth' | 'delegate' | 'signal' | 'onFault'
>;

/** A call by which a run delegates. */
export interface DelegatingCall {
  readonly from: Working;
  readonly toolCallId: string;
  /** Notes which run does it, before that begins. */
  readonly note: (streamRequestId: string) => Promise<void>;
}

export type Delegate = (call: DelegatingCall, agent: string, task: string) => Promise<ToolOutcome>;

export type Call = RequestedCall & { readonly toolCallId: string };

/** The record of a call that has not left. */
export function recordOf({ toolCallId, toolName }: Call, step: number): CallRecord {
  return { toolCallId, toolName, step, state: 'intended' };
}

/** Makes one call, tells readers of it, and keeps how it stands at every turn. Rejects with the run's end only. */
export async function callTool(
  working: Working,
  tools: readonly Tool[],
  call: Call,
  step: number,
): Promise<ToolOutcome> {
  const { toolCallId, toolName, input, fault } = call;
  const tool = tools.find(({ name }) => name === toolName);
  const title = tool?.title;
  await tell(working, {
    type: 'tool-called',
    toolCallId,
    toolName,
    ...(title !== undefined && { title }),
    input,
  });
  let record = recordOf(call, step);
  const note = (more: Partial<CallRecord>) => {
    record = { ...record, ...more };
    return working.writer.keep([{ type: 'call', call: record }]);
  };
  const startedAt = performance.now();
  const outcome =
    tool === undefined || fault !== undefined
      ? failed(fault ?? `There is no tool named ${toolName}.`)
      : await tool.call(doorFor(working, call, note));
  working.observer.called(working.run, {
    agent: working.id,
    tool: tool?.name ?? 'unknown',
    outcome: outcome.type,
    durationMs: Math.round(performance.now() - startedAt),
  });
  working.signal.throwIfAborted();
  if (outcome.type === 'returned') {
    await tell(working, { type: 'tool-returned', toolCallId, output: outcome.shown ?? outcome.output });
    await note({ state: 'returned', output: outcome.output });
  } else {
    await tell(working, { type: 'tool-failed', toolCallId, message: outcome.message });
    await note({ state: 'failed', output: outcome.message });
  }
  return outcome;
}

/** Tells the run's own readers, and the turn's. */
async function tell({ writer, turn, agent }: Working, event: TurnEvent): Promise<void> {
  await writer.tell(event);
  if (agent === undefined) return;
  await turn.tell(event.type === 'tool-called' ? { ...event, agent } : event);
}

/** What the tool sees of the run. */
function doorFor(
  working: Working,
  { toolCallId, input }: Call,
  note: (more: Partial<CallRecord>) => Promise<void>,
): ToolCall {
  const { turn, signal, clock } = working;
  return {
    toolCallId,
    input,
    support: turn.support,
    signal,
    leaving: async () => {
      await note({ state: 'left' });
      return input;
    },
    tell: (event) => tell(working, event),
    ask: (ordinal, question, shared) =>
      clock.waiting(() =>
        ask(working, { toolCallId, ordinal, ...(shared !== undefined && { shared }) }, question),
      ),
    delegate: (agent, task) =>
      working.delegate(
        { from: working, toolCallId, note: (run) => note({ state: 'left', run }) },
        agent,
        task,
      ),
  };
}

async function ask(
  { engine, turn, run, writer, open, title, signal }: Working,
  place: { readonly toolCallId: string; readonly ordinal: number; readonly shared?: string },
  question: Question,
): Promise<AskOutcome> {
  // A question is shown behind the call that asks it.
  await turn.told();
  turn.asking += 1;
  try {
    const outcome = await askPerson(
      {
        engine,
        keep: (pause) => writer.keep([{ type: 'pause', pause }]),
        onAsked: (id) => open.add(id),
        isShown: turn.support[question.mode],
      },
      { run, turn: turn.run, ...place },
      { ...question, context: { trigger: 'agent', agent: title, ...question.context } },
      signal,
    );
    turn.asking -= 1;
    open.delete(outcome.elicitationId);
    // Mostly because the turn is to stop: then nobody goes on with that, however soon they hear of it.
    if (outcome.status === 'withdrawn') await turn.look();
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    // What was refused is not open.
    if (isParleyError(error)) turn.asking -= 1;
    throw error;
  }
}

/** The results as the model reads them: one message that answers every call of the round. */
export function resultsOf(calls: readonly Call[], outcomes: readonly ToolOutcome[]): Message {
  const content = calls.map(({ modelCallId, toolName }, index) => ({
    type: 'tool-result',
    toolCallId: modelCallId,
    toolName,
    output: outputOf(outcomes[index] ?? failed('There is no result.')),
  }));
  return { role: 'tool', content };
}

function outputOf(outcome: ToolOutcome): Record<string, unknown> {
  if (outcome.type === 'failed') return { type: 'error-text', value: outcome.message };
  return typeof outcome.output === 'string'
    ? { type: 'text', value: outcome.output }
    : { type: 'json', value: outcome.output };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Message, StepRecord } from '@parley/shared/domain/runs/run';
import type { FinishReason, TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { LanguageModel } from 'ai';
import { resultsOf } from '../tools/call-results.ts';
import { announce, callTool, recordOf } from '../tools/call-tool.ts';
import type { Tool } from '../tools/tool.ts';
import { BEGINNING, type Checkpoint, type Round } from './checkpoint.ts';
import { type ModelSettings, modelStep, type RequestedCall } from './model-step.ts';
import type { RunContext } from './run-context.ts';

// How long the end of a run waits for calls that were told to end.
const LEAVING_MS = 5_000;

export interface RunLimits {
  /** Rounds of the model. */
  readonly steps: number;
  /** Tokens read and written in all rounds together. */
  readonly tokens: number;
  /** How long the turn may work, in ms; waiting for people is no work. */
  readonly workMs: number;
}

/** What an agent brings to a run. */
export interface RunAgent {
  readonly model: LanguageModel;
  readonly instructions: string;
  /**
   * The tools as they are now; looked up anew for every step, for a person may connect an account in between. `called`
   * are those that the round calls already.
   */
  readonly tools: (signal: AbortSignal, called?: ReadonlySet<string>) => Promise<readonly Tool[]>;
  readonly settings: ModelSettings;
  readonly limits: RunLimits;
}

/** What is said in a run. */
export interface Talk {
  /** What the model reads before what it says itself. */
  readonly heard: readonly Message[];
  /** Gains each round once it is whole. */
  readonly said: Message[];
}

/**
 * A round of the model, its tool calls side by side, the next round, until it has nothing more to call. What the model
 * said and what came of its calls is kept before anything follows from it, and every call before it leaves. `abandon`
 * ends the calls that are under way when one of them, or the run, cannot go on.
 */
export async function runSteps(
  context: RunContext,
  agent: RunAgent,
  { heard, said }: Talk,
  abandon: (reason: unknown) => void,
  from: Checkpoint = BEGINNING,
): Promise<FinishReason> {
  const { writer, budget } = context;
  said.push(...from.said);
  if (from.last !== undefined) return reasonOf(from.last);
  let tools: readonly Tool[] = [];
  for (let index = from.step; index < agent.limits.steps; index += 1) {
    const known = index === from.step ? from.round : undefined;
    // Whoever had it before may have spent all with the last step.
    if (known === undefined && from.said.length > 0 && budget.isSpent) return 'step-limit';
    if (known === undefined && from.isRestarted && index === from.step)
      await writer.append({ type: 'step-restarted', step: index });
    if (known === undefined) await writer.append({ type: 'step-started', step: index });
    tools = await (known === undefined ? toolsNow(context, agent, tools) : toolsOf(context, agent, known));
    const { record, calls } =
      known ?? (await newRound(context, { ...agent, tools }, [...heard, ...said], index));
    if (calls.length === 0) {
      said.push(...record.messages);
      await writer.append({ type: 'step-finished', step: index });
      return reasonOf(record);
    }
    const outcomes = await atRest(context, calls.length, (each) =>
      together(
        calls.map((call) => callTool(context, tools, call, index).finally(each)),
        abandon,
      ),
    );
    const messages = [...record.messages, resultsOf(calls, outcomes)];
    said.push(...messages);
    await writer.append({ type: 'step-finished', step: index });
    // No write of its own: the results are kept with their calls.
    await writer.saveSoon([{ type: 'step', index, step: standing(context, { ...record, messages }) }]);
    if (budget.isSpent) return 'step-limit';
  }
  return 'step-limit';
}

/** Has the model say its next; that is kept, with the calls that it asks for, and readers are told of those. */
async function newRound(
  context: RunContext,
  agent: Omit<RunAgent, 'tools'> & { readonly tools: readonly Tool[] },
  messages: readonly Message[],
  index: number,
): Promise<Round> {
  const { writer, budget, signal } = context;
  const step = {
    ...agent,
    messages,
    block: `${index}`,
    tell: (event: TurnEvent) => writer.append(event),
    signal,
  };
  const { record, calls: asked } = await context.observer.chat(context.run, context.id, () =>
    modelStep(step),
  );
  budget.spend(record);
  const calls = asked.map((call, at) => ({
    ...call,
    toolCallId: uniqueId(context.callIds, call, index),
    at,
  }));
  for (const call of calls) await announce(context, agent.tools, call);
  await writer.save([
    { type: 'step', index, step: standing(context, record) },
    ...calls.map((call) => ({ type: 'call', call: recordOf(call, index) }) as const),
  ]);
  return { record, calls };
}

/** A step, with what the run has used and worked by now. */
function standing({ budget, clock }: RunContext, record: StepRecord): StepRecord {
  const { used } = budget;
  return { ...record, ...(used !== undefined && { used }), workedMs: Math.round(clock.workedMs) };
}

/** The tools for a round that another pod had begun: without them its calls would fail that are only to be taken up. */
function toolsOf({ signal }: RunContext, { tools }: RunAgent, { calls }: Round): Promise<readonly Tool[]> {
  const called = new Set(calls.map(({ toolName }) => toolName));
  return retryWhileUnavailable(() => tools(signal, called), signal);
}

/** The tools for the next step; those of the last one when they cannot be listed. */
async function toolsNow(
  { signal, onFault }: RunContext,
  { tools }: RunAgent,
  before: readonly Tool[],
): Promise<readonly Tool[]> {
  try {
    return await tools(signal);
  } catch (error) {
    signal.throwIfAborted();
    onFault(error);
    return before;
  }
}

/** Models number their calls anew in each round, some of them; and agents do not know of each other's. */
function uniqueId(known: Set<string>, { modelCallId }: RequestedCall, step: number): string {
  let id = modelCallId;
  for (let attempt = 0; known.has(id); attempt += 1) id = `${modelCallId}.${step}.${attempt}`;
  known.add(id);
  return id;
}

/** Waits for calls that are at work themselves, each until it has told so; the loop is not, meanwhile. */
async function atRest<T>(
  { turn }: RunContext,
  calls: number,
  wait: (each: () => void) => Promise<T>,
): Promise<T> {
  turn.idle.addActive(calls - 1);
  try {
    return await wait(() => turn.idle.addActive(-1));
  } finally {
    turn.idle.addActive(1);
  }
}

/** All results; or the first fault, once the others have heard of it and come to an end themselves. */
async function together<T>(work: readonly Promise<T>[], abandon: (reason: unknown) => void): Promise<T[]> {
  try {
    return await Promise.all(work);
  } catch (error) {
    abandon(error);
    await Promise.race([Promise.allSettled(work), sleep(LEAVING_MS, undefined, { ref: false })]);
    throw error;
  }
}

function reasonOf({ finishReason }: StepRecord): FinishReason {
  return finishReason === 'length' || finishReason === 'content-filter' ? finishReason : 'stop';
}

/**
 * The loop of an agent: a reply of the model, then its tool calls, until it calls no more tools. The begin and end of a run are
 * in `run.ts`, a single call is in `agents/tools/call-tool.ts`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { uniqueCallId } from '@parley/shared/domain/runs/call-ids';
import type { Message, StepRecord } from '@parley/shared/domain/runs/run';
import { textOfStep } from '@parley/shared/domain/runs/steps';
import type { FinishReason, TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { RunContext } from '../run/run-context.ts';
import type { SampleReply } from '../run/sample-reply.ts';
import { ModelError, type ModelStep, type StepReply } from '../run/step.ts';
import type { Tool } from '../run/tool.ts';
import { resultsOf } from '../tools/call-results.ts';
import { announce, callTool, recordOf } from '../tools/call-tool.ts';
import { BEGINNING, type Checkpoint, type Round } from './checkpoint.ts';
import { withoutImages } from './images.ts';

// How long the end of a run waits for aborted calls to end.
const ABORTED_CALL_GRACE_MS = 5_000;
// The name of an extra text block. Blocks of models never have this name.
const LEFT_OUT_BLOCK = 'left-out';

export interface RunLimits {
  /** The limit of model rounds. */
  readonly steps: number;
  /** The limit of tokens read and written in all rounds together. */
  readonly tokens: number;
  /** The limit of the turn's working time in ms, without its waits for people. */
  readonly workMs: number;
  /** The finish reason of a run that has used all its steps; by default, `step-limit`. */
  readonly lastReason?: FinishReason;
}

/** An agent, ready to run. */
export interface RunAgent {
  readonly reply: StepReply;
  /** Lets the agent's model write a text for a server. Absent without a model. */
  readonly sample?: SampleReply;
  /**
   * The current tools. They are read again for every step, because a person may have connected an account. `called` names the
   * tools that the current round calls.
   */
  readonly tools: (signal: AbortSignal, called?: ReadonlySet<string>) => Promise<readonly Tool[]>;
  readonly limits: RunLimits;
  /** True if the conversation stores nothing of the run. */
  readonly isForgotten?: true;
}

/** The messages of a run. */
export interface Transcript {
  /** The messages before the run, and its input. If images were refused, the earlier messages are without images. */
  given: readonly Message[];
  /** True once a step has succeeded only without the images of earlier messages. */
  areEarlierImagesRefused?: true;
  /** The run's own messages. Each round is added once it is complete. */
  readonly produced: Message[];
  /** A text about what was omitted from the message that the run answers. The person sees it before the reply. */
  readonly leftOut?: string;
  /** The text so far of an incomplete round. */
  cut: string;
}

interface RoundsOptions {
  /** Aborts the other calls if one of them fails with an error that ends the run. */
  readonly abandon: (reason: unknown) => void;
  /** Called when all calls of a round have ended, before the next reply. */
  readonly afterCalls?: () => Promise<void>;
  /** The checkpoint to start from; by default, a new run. */
  readonly from?: Checkpoint | undefined;
}

/**
 * Runs rounds until the model calls no more tools: one reply of the model, then its tool calls in parallel. Each reply
 * and each result is saved before it is used, and each call before it is dispatched.
 */
export async function runSteps(
  context: RunContext,
  agent: RunAgent,
  transcript: Transcript,
  { abandon, afterCalls, from = BEGINNING }: RoundsOptions,
): Promise<FinishReason> {
  const { writer, budget } = context;
  const { produced } = transcript;
  const appendEvent = (event: TurnEvent) => {
    if (event.type === 'text-delta') transcript.cut += event.text;
    return writer.append(event);
  };
  produced.push(...from.said);
  if (from.last !== undefined) return reasonOf(from.last);
  let tools: readonly Tool[] = [];
  for (let index = from.step; index < agent.limits.steps; index += 1) {
    const known = index === from.step ? from.round : undefined;
    // The previous owner may have spent the whole budget with the last step.
    if (known === undefined && from.said.length > 0 && budget.isSpent) return 'step-limit';
    if (known === undefined && from.isRestarted && index === from.step)
      await writer.append({ type: 'step-restarted', step: index });
    if (known === undefined) await beginStep(context, transcript, index);
    else transcript.cut = textOfStep(known.record);
    tools = await (known === undefined
      ? readTools(context, agent, tools)
      : toolsForInheritedRound(context, agent, known));
    const { record, calls } =
      known ?? (await newRound(context, { ...agent, tools }, transcript, { index, appendEvent }));
    if (calls.length === 0) {
      produced.push(...record.messages);
      transcript.cut = '';
      await writer.append({ type: 'step-finished', step: index });
      return reasonOf(record);
    }
    const sharers = calls.filter(({ toolName }) =>
      tools.some((tool) => tool.name === toolName && tool.usesTokens),
    );
    const outcomes = await whileCallsRun(context, calls.length, (each) =>
      together(
        calls.map((call) =>
          callTool(context, tools, { ...call, sharers: sharers.length }, index).finally(each),
        ),
        abandon,
      ),
    );
    await afterCalls?.();
    const messages = [...record.messages, resultsOf(calls, outcomes)];
    produced.push(...messages);
    transcript.cut = '';
    await writer.append({ type: 'step-finished', step: index });
    // This needs no write of its own, because the records of the calls also hold the results.
    await writer.saveSoon([
      { type: 'step', index, step: withUsage(context, { ...record, messages }), isCounted: true },
    ]);
    const endsTurn = outcomes.some((outcome) => outcome.type === 'failed' && outcome.endsTurn);
    if (endsTurn || context.turn.isLeftByMessage === true) return 'stopped';
    if (budget.isSpent) return 'step-limit';
  }
  return agent.limits.lastReason ?? 'step-limit';
}

/**
 * Begins a step. The first step also shows what was omitted from the message. That text is only for the reader: the model
 * learns it with the message, and the history derives it from the message.
 */
async function beginStep(
  { writer }: Pick<RunContext, 'writer'>,
  { leftOut: text = '' }: Transcript,
  step: number,
): Promise<void> {
  await writer.append({ type: 'step-started', step });
  if (step > 0 || text === '') return;
  await writer.append({ type: 'text-delta', block: LEFT_OUT_BLOCK, text });
  await writer.append({ type: 'text-finished', block: LEFT_OUT_BLOCK });
}

/** Gets the next reply, saves it with its tool calls, and appends their events. */
async function newRound(
  context: RunContext,
  agent: Omit<RunAgent, 'tools'> & { readonly tools: readonly Tool[] },
  transcript: Transcript,
  {
    index,
    appendEvent,
  }: { readonly index: number; readonly appendEvent: (event: TurnEvent) => Promise<void> },
): Promise<Round> {
  const { writer, budget, signal } = context;
  const step = {
    tools: agent.tools,
    block: `${index}`,
    appendEvent,
    signal,
  };
  const startedAt = performance.now();
  const { record, calls: asked } = await replyTo(transcript, (messages) =>
    agent.reply({ ...step, messages }, context),
  );
  const modelMs = Math.round(performance.now() - startedAt);
  budget.spend(record);
  const calls = asked.map((call, at) => ({
    ...call,
    toolCallId: uniqueCallId(context.callIds, call.modelCallId, index),
    at,
  }));
  for (const call of calls) await announce(context, agent.tools, call);
  await writer.save([
    { type: 'step', index, step: { ...withUsage(context, record), modelMs } },
    ...calls.map((call) => ({ type: 'call', call: recordOf(call, index) }) as const),
  ]);
  return { record, calls };
}

/**
 * The reply to a transcript. A request that the model's server refuses is repeated once without the images of earlier messages,
 * which would make every later turn of the conversation fail, too. The images count as the reason only if the repeated request
 * succeeds.
 */
async function replyTo(
  transcript: Transcript,
  ask: (messages: readonly Message[]) => Promise<ModelStep>,
): Promise<ModelStep> {
  const { given, produced } = transcript;
  try {
    return await ask([...given, ...produced]);
  } catch (error) {
    const earlier = given.slice(0, -1);
    const without = withoutImages(earlier);
    if (!(error instanceof ModelError && error.isRefusal) || without === earlier) throw error;
    const fewer = [...without, ...given.slice(-1)];
    const reply = await ask([...fewer, ...produced]);
    transcript.given = fewer;
    transcript.areEarlierImagesRefused = true;
    return reply;
  }
}

/** A step's record with the run's current usage and working time. */
function withUsage({ budget, clock }: RunContext, record: StepRecord): StepRecord {
  const { used } = budget;
  return { ...record, ...(used !== undefined && { used }), workedMs: Math.round(clock.workedMs) };
}

/** The tools for a round of the previous owner. Reading them is retried, because the calls would fail without them. */
function toolsForInheritedRound(
  { signal }: RunContext,
  { tools }: RunAgent,
  { calls }: Round,
): Promise<readonly Tool[]> {
  const called = new Set(calls.map(({ toolName }) => toolName));
  return retryWhileUnavailable(() => tools(signal, called), signal);
}

/** The tools for the next step. If they cannot be listed, the previous tools are used. */
async function readTools(
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

/** Counts the calls as the active parts of the turn. The loop itself does not count while it waits for them. */
async function whileCallsRun<T>(
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

/** All results. If one fails, the others are aborted and awaited before the first error is thrown. */
async function together<T>(work: readonly Promise<T>[], abandon: (reason: unknown) => void): Promise<T[]> {
  try {
    return await Promise.all(work);
  } catch (error) {
    abandon(error);
    await Promise.race([Promise.allSettled(work), sleep(ABORTED_CALL_GRACE_MS, undefined, { ref: false })]);
    throw error;
  }
}

function reasonOf({ finishReason }: StepRecord): FinishReason {
  return finishReason === 'length' || finishReason === 'content-filter' ? finishReason : 'stop';
}

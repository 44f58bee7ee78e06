import type { CallRecord, Message, PauseRecord, RunRef } from '@parley/shared/domain/run';
import type { FinishReason } from '@parley/shared/domain/turn-events';
import type { Engine } from '@parley/shared/engine/engine';
import type { LanguageModel } from 'ai';
import {
  ModelError,
  type ModelSettings,
  type ModelStep,
  modelStep,
  type RequestedCall,
} from './model-step.ts';
import { askPerson } from './question.ts';
import { type End, RunLostError, type RunWriter, TurnTooLargeError } from './run-writer.ts';
import type { Support, Tool, ToolOutcome } from './tool.ts';
import { startWorkClock, type WorkClock } from './work-clock.ts';

export interface RunLimits {
  /** Rounds of the model. */
  readonly steps: number;
  /** Tokens read and written in all rounds together. */
  readonly tokens: number;
  /** How long the turn may work, in ms; waiting for people is no work. */
  readonly workMs: number;
}

export interface RunOptions {
  readonly engine: Pick<Engine, 'ask' | 'wait'>;
  readonly writer: RunWriter;
  readonly run: RunRef;
  readonly model: LanguageModel;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  readonly settings: ModelSettings;
  readonly limits: RunLimits;
  readonly support: Support;
  /** What was said before this turn, and what this turn answers. */
  readonly history: readonly Message[];
  readonly input: readonly Message[];
  /** Aborted when the person stops the turn. */
  readonly stopped: AbortSignal;
  /** Told of what ended a turn in an error, for logs. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Runs one turn to its end: a round of the model, its tool calls side by side, the next round. Every step is kept
 * before the next begins, and every call before it leaves. Resolves when the turn has ended or another pod owns it;
 * never rejects.
 */
export async function runTurn(options: RunOptions): Promise<void> {
  const said: Message[] = [];
  const clock = startWorkClock(options.limits.workMs);
  try {
    const reason = await steps(options, clock, said);
    await finish(options, said, reason);
  } catch (error) {
    if (error instanceof RunLostError) return;
    await endWith(options, said, clock.over.aborted ? new TurnTooLongError() : error).catch(
      (fault: unknown) => {
        if (!(fault instanceof RunLostError)) options.onFault(fault);
      },
    );
  } finally {
    clock.stop();
  }
}

/** The turn has worked as long as it may. */
class TurnTooLongError extends Error {
  constructor() {
    super('The turn has worked as long as a turn may work.');
    this.name = 'TurnTooLongError';
  }
}

/** The reason of `stopped` when it is the pod that stops, not the person. */
export class TurnInterruptedError extends Error {
  constructor() {
    super('The pod that ran the turn is going away.');
    this.name = 'TurnInterruptedError';
  }
}

async function endWith(options: RunOptions, said: readonly Message[], error: unknown): Promise<void> {
  const { stopped, writer } = options;
  const interrupted = stopped.reason instanceof TurnInterruptedError;
  if ((stopped.aborted && !interrupted) || writer.stopped.aborted) return finish(options, said, 'stopped');
  options.onFault(error);
  const end: End = { status: 'failed', messages: historyOf(options, said) };
  return writer.end({ type: 'turn-failed', ...wordsFor(error) }, end);
}

function finish(options: RunOptions, said: readonly Message[], reason: FinishReason): Promise<void> {
  const status = reason === 'stopped' ? 'stopped' : 'finished';
  return options.writer.end(
    { type: 'turn-finished', reason },
    { status, messages: historyOf(options, said) },
  );
}

/** What the conversation remembers of the turn. */
function historyOf({ input }: RunOptions, said: readonly Message[]): Message[] {
  return [...input, ...said];
}

function wordsFor(error: unknown): { code: string; message: string } {
  if (error instanceof TurnTooLargeError) {
    return { code: 'too_large', message: 'The turn became too long and was ended.' };
  }
  if (error instanceof TurnTooLongError) {
    return { code: 'timeout', message: 'The turn took too long and was ended.' };
  }
  if (error instanceof TurnInterruptedError) {
    return { code: 'interrupted', message: 'The turn was interrupted; please ask again.' };
  }
  if (error instanceof ModelError) {
    return { code: 'model_unavailable', message: 'The model could not answer; try again in a moment.' };
  }
  return { code: 'internal', message: 'Something went wrong on our side; the log has the details.' };
}

/** Round after round until the model has nothing more to call. `said` gains each round once it is whole. */
async function steps(options: RunOptions, clock: WorkClock, said: Message[]): Promise<FinishReason> {
  const { writer, limits, history, input } = options;
  const signal = AbortSignal.any([options.stopped, writer.stopped, writer.lost, clock.over]);
  let tokens = 0;
  const callIds = new Set<string>();
  for (let index = 0; index < limits.steps; index += 1) {
    await writer.tell({ type: 'step-started', step: index });
    const round = await modelStep({
      ...options,
      messages: [...history, ...input, ...said],
      block: `${index}`,
      tell: (event) => writer.tell(event),
      signal,
    });
    const calls = round.calls.map((call) => ({ ...call, toolCallId: uniqueId(callIds, call, index) }));
    await writer.keep([
      { type: 'step', index, step: round.record },
      ...calls.map((call) => ({ type: 'call', call: recordOf(call, index) }) as const),
    ]);
    tokens += (round.record.inputTokens ?? 0) + (round.record.outputTokens ?? 0);
    if (calls.length === 0) {
      said.push(...round.record.messages);
      await writer.tell({ type: 'step-finished', step: index });
      return reasonOf(round);
    }
    const outcomes = await Promise.all(calls.map((call) => callTool(options, clock, call, index, signal)));
    const results = resultsOf(calls, outcomes);
    said.push(...round.record.messages, ...results);
    await writer.tell({ type: 'step-finished', step: index });
    await writer.keep([
      { type: 'step', index, step: { ...round.record, messages: [...round.record.messages, ...results] } },
    ]);
    if (tokens >= limits.tokens) return 'step-limit';
  }
  return 'step-limit';
}

type Call = RequestedCall & { readonly toolCallId: string };

/** Models number their calls anew in each round, some of them. */
function uniqueId(known: Set<string>, { modelCallId }: RequestedCall, step: number): string {
  let id = modelCallId;
  for (let attempt = 0; known.has(id); attempt += 1) id = `${modelCallId}.${step}.${attempt}`;
  known.add(id);
  return id;
}

function recordOf({ toolCallId, toolName }: Call, step: number): CallRecord {
  return { toolCallId, toolName, step, state: 'intended' };
}

async function callTool(
  options: RunOptions,
  clock: WorkClock,
  call: Call,
  step: number,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { writer, tools, run } = options;
  const { toolCallId, toolName, input } = call;
  const tool = tools.find(({ name }) => name === toolName);
  await writer.tell({
    type: 'tool-called',
    toolCallId,
    toolName,
    ...(tool?.title !== undefined && { title: tool.title }),
    input,
  });
  const keepPause = (pause: PauseRecord) => writer.keep([{ type: 'pause', pause }]);
  const outcome =
    tool === undefined || call.fault !== undefined
      ? failed(call.fault ?? `There is no tool named ${toolName}.`)
      : await tool.call({
          input,
          support: options.support,
          signal,
          leaving: () => writer.keep([{ type: 'call', call: { ...recordOf(call, step), state: 'left' } }]),
          ask: (ordinal, question) =>
            clock.waiting(() =>
              askPerson(
                { engine: options.engine, keep: keepPause },
                { run, toolCallId, ordinal },
                question,
                signal,
              ),
            ),
        });
  signal.throwIfAborted();
  await writer.tell(
    outcome.type === 'returned'
      ? { type: 'tool-returned', toolCallId, output: outcome.shown ?? outcome.output }
      : { type: 'tool-failed', toolCallId, message: outcome.message },
  );
  const state = outcome.type === 'returned' ? 'returned' : 'failed';
  const output = outcome.type === 'returned' ? outcome.output : outcome.message;
  await writer.keep([{ type: 'call', call: { ...recordOf(call, step), state, output } }]);
  return outcome;
}

function failed(message: string): ToolOutcome {
  return { type: 'failed', message };
}

/** The results as the model reads them: one message that answers every call of the round. */
function resultsOf(calls: readonly Call[], outcomes: readonly ToolOutcome[]): Message[] {
  const content = calls.map(({ modelCallId, toolName }, index) => ({
    type: 'tool-result',
    toolCallId: modelCallId,
    toolName,
    output: outputOf(outcomes[index] ?? failed('There is no result.')),
  }));
  return [{ role: 'tool', content }];
}

function outputOf(outcome: ToolOutcome): Record<string, unknown> {
  if (outcome.type === 'failed') return { type: 'error-text', value: outcome.message };
  return typeof outcome.output === 'string'
    ? { type: 'text', value: outcome.output }
    : { type: 'json', value: outcome.output };
}

function reasonOf({ record }: ModelStep): FinishReason {
  return record.finishReason === 'length' || record.finishReason === 'content-filter'
    ? record.finishReason
    : 'stop';
}

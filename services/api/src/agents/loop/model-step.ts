import type { Message, StepRecord } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import {
  APICallError,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  RetryError,
  type StreamTextResult,
  streamText,
  type ToolSet,
} from 'ai';
import type { Tool } from '../tools/tool.ts';

/** How a model is called; its provider decides what is absent. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
}

export interface ModelStepOptions {
  readonly model: LanguageModel;
  readonly instructions: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly settings: ModelSettings;
  /** Prefix of the ids of the text blocks of this step. */
  readonly block: string;
  readonly tell: (event: TurnEvent) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A call that the model asks for. */
export interface RequestedCall {
  /** As the model named it; not always unique. */
  readonly modelCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** Why it cannot be made: there is no such tool, or its input is no JSON. */
  readonly fault?: string;
}

export interface ModelStep {
  readonly record: StepRecord;
  readonly calls: readonly RequestedCall[];
}

/**
 * The model could not be reached, or broke off. Says why in a word and no more: the errors of the SDK hold whole
 * conversations, and must reach no log.
 */
export class ModelError extends Error {
  constructor(cause: unknown) {
    super(`The model could not answer: ${reasonOf(cause)}.`);
    this.name = 'ModelError';
  }
}

function reasonOf(error: unknown): string {
  if (RetryError.isInstance(error)) return reasonOf(error.lastError);
  if (APICallError.isInstance(error) && error.statusCode !== undefined) return `HTTP ${error.statusCode}`;
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string') return code;
  if (!(error instanceof Error)) return 'an error within its stream';
  return error.cause === undefined ? error.name : reasonOf(error.cause);
}

/** One round of a model: its text is told as it comes, the calls it asks for are left to the caller. */
export async function modelStep(options: ModelStepOptions): Promise<ModelStep> {
  const { model, instructions, messages, tools, settings, signal } = options;
  const result = streamText({
    model,
    ...(instructions !== '' && { system: instructions }),
    messages: messages as unknown as ModelMessage[],
    tools: toolSetOf(tools),
    ...settings,
    abortSignal: signal,
    // What failed is thrown below; the default would print it.
    onError: () => undefined,
  });
  const calls: RequestedCall[] = [];
  for await (const part of partsOf(result, signal)) {
    const block = 'id' in part ? `${options.block}.${part.id}` : '';
    if (part.type === 'text-delta') await options.tell({ type: 'text-delta', block, text: part.text });
    else if (part.type === 'text-end') await options.tell({ type: 'text-finished', block });
    else if (part.type === 'tool-call') calls.push(callOf(part));
  }
  const [response, finishReason, usage] = await Promise.all([
    result.response,
    result.finishReason,
    result.usage,
  ]);
  const said = response.messages.filter(({ role }) => role === 'assistant');
  return { calls, record: recordOf(said, finishReason, usage) };
}

/** What the model says; whatever goes wrong with it is a ModelError, but for the signal's own reason. */
async function* partsOf(result: StreamTextResult<ToolSet, never>, signal: AbortSignal) {
  try {
    for await (const part of result.fullStream) {
      if (part.type === 'error') throw part.error;
      yield part;
    }
    signal.throwIfAborted();
    await result.response;
  } catch (error) {
    signal.throwIfAborted();
    throw new ModelError(error);
  }
}

function recordOf(
  messages: readonly ModelMessage[],
  finishReason: string,
  { inputTokens, outputTokens }: { inputTokens: number | undefined; outputTokens: number | undefined },
): StepRecord {
  return {
    messages: messages as unknown as Message[],
    finishReason,
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
}

function toolSetOf(tools: readonly Tool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      { description, inputSchema: jsonSchema(inputSchema) },
    ]),
  );
}

function callOf(part: {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly invalid?: boolean | undefined;
  readonly error?: unknown;
}): RequestedCall {
  const { toolCallId, toolName, input } = part;
  return {
    modelCallId: toolCallId,
    toolName,
    input,
    ...(part.invalid === true && { fault: `The call of ${toolName} is not well formed: ${part.error}` }),
  };
}

/**
 * Runs one step of a model and appends its text to the feed. Calling the requested tools is in `run-steps.ts`, the HTTP details
 * are in `model/`.
 */

import type { Message, StepRecord } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import {
  APICallError,
  type GenerateTextResult,
  generateText,
  jsonSchema,
  type ModelMessage,
  NoSuchToolError,
  RetryError,
  type ToolSet,
} from 'ai';
import type { SampleReply } from '../run/sample-reply.ts';
import {
  ModelError,
  type ModelStep,
  type RequestedCall,
  type StepReply,
  type StepRequest,
} from '../run/step.ts';
import { NO_SUCH_TOOL, type Tool } from '../run/tool.ts';
import { asModelTakes, forEstimate, type TakenImages } from './images.ts';
import { faultOfArguments } from './model/argument-fault.ts';
import { ModelSilent } from './model/model-fetch.ts';
import { type ChatModel, type ReplyReceiver, readByStream } from './model/streamed-model.ts';
import { startThinking } from './model/thinking.ts';

const BYTES_PER_TOKEN = 4;

/** Settings of a model. The provider's default applies to absent ones. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
}

/** The model of an agent, and what is the same in all its steps. */
interface AgentModel {
  readonly model: ChatModel;
  readonly instructions: string;
  readonly settings: ModelSettings;
  readonly images?: TakenImages;
}

export interface ModelStepOptions extends AgentModel, StepRequest {}

/** The replies of a model, each in a span of its own. */
export function repliesOf(model: AgentModel): StepReply {
  return (step, { observer, run, id }) => observer.chat(run, id, () => modelStep({ ...model, ...step }));
}

/** The texts that a model writes for servers, each in a span of its own. */
export function samplesOf(model: Omit<AgentModel, 'instructions'>): SampleReply {
  return ({ system, maxOutputTokens, temperature, ...request }, { observer, run, id }) => {
    const { settings } = model;
    const most = Math.min(maxOutputTokens, settings.maxOutputTokens ?? maxOutputTokens);
    const asked = { ...settings, ...(temperature !== undefined && { temperature }), maxOutputTokens: most };
    const step = { tools: [], block: 'sample', appendEvent: async () => undefined };
    return observer.chat(run, id, () =>
      modelStep({ ...model, ...step, ...request, instructions: system, settings: asked }),
    );
  };
}

/** The error that a run gets for a failed request to the model. */
function modelErrorOf(cause: unknown): ModelError {
  const isRefusal = APICallError.isInstance(cause) && REFUSED.includes(cause.statusCode ?? 0);
  return new ModelError(reasonOf(cause), isRefusal);
}

const REFUSED: readonly number[] = [400, 413, 415, 422];

function reasonOf(error: unknown): string {
  if (RetryError.isInstance(error)) return reasonOf(error.lastError);
  if (error instanceof ModelSilent) return error.message;
  if (APICallError.isInstance(error) && (error.statusCode ?? 0) >= 300) return `HTTP ${error.statusCode}`;
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code === 'string') return code;
  if (!(error instanceof Error)) return 'an error within its stream';
  return error.cause === undefined ? error.name : reasonOf(error.cause);
}

/**
 * Runs one step of a model. Appends its text to the feed as it arrives, and returns the tool calls that it requests.
 * Throws ModelError, the signal's reason, or what `appendEvent` throws.
 */
export async function modelStep(options: ModelStepOptions): Promise<ModelStep> {
  const { instructions, images } = options;
  const messages = asModelTakes(options.messages, images);
  const faults = new Map<string, string>();
  const { response, finishReason, usage, toolCalls } = await readReply({ ...options, messages }, faults);
  const said = response.messages.filter(({ role }) => role === 'assistant');
  const calls = toolCalls.map((call) => callOf(call, faults.get(call.toolCallId)));
  const record = recordOf(said, finishReason, usage);
  if (usage.inputTokens !== undefined || usage.outputTokens !== undefined) return { calls, record };
  const estimatedTokens = estimateTokens([instructions, messages.map(forEstimate), said]);
  return { calls, record: { ...record, estimatedTokens } };
}

/** Gets the reply. Fills `faults` with the reasons why calls cannot be made, by call id. */
async function readReply(
  options: ModelStepOptions,
  faults: Map<string, string>,
): Promise<GenerateTextResult<ToolSet, never>> {
  const { model, instructions, messages, tools, settings, signal, block, appendEvent } = options;
  let fault: { readonly error: unknown } | undefined;
  const append = (event: TurnEvent) =>
    appendEvent(event).catch((error: unknown) => {
      fault = { error };
      throw error;
    });
  const thinking = startThinking(block, append);
  const receiver: ReplyReceiver = {
    async delta(number, text) {
      await thinking.says();
      await append({ type: 'text-delta', block: `${block}.${number}`, text });
    },
    finished: (number) => append({ type: 'text-finished', block: `${block}.${number}` }),
    reasons: () => thinking.reasons(),
    called(toolCallId, toolName, json) {
      const found = faultOfArguments(toolName, json);
      if (found !== undefined) faults.set(toolCallId, found);
    },
  };
  try {
    const reply = await generateText({
      model: readByStream(model, receiver, signal),
      ...(instructions !== '' && { system: instructions }),
      messages: messages as unknown as ModelMessage[],
      // URLs go to the model unchanged, because this pod opens none.
      experimental_download: async (addresses) => addresses.map(() => null),
      tools: toolSetOf(tools),
      ...settings,
      abortSignal: signal,
    });
    await thinking.end();
    return reply;
  } catch (error) {
    await thinking.end().catch(() => undefined);
    if (fault !== undefined) throw fault.error;
    signal.throwIfAborted();
    throw modelErrorOf(error);
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

/** A rough estimate of the tokens that a model reads and writes. Most texts have three to four bytes per token. */
function estimateTokens(texts: unknown): number {
  return Math.ceil(JSON.stringify(texts).length / BYTES_PER_TOKEN);
}

function toolSetOf(tools: readonly Tool[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      { description, inputSchema: jsonSchema(inputSchema) },
    ]),
  );
}

function callOf(
  part: {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
    readonly invalid?: boolean | undefined;
    readonly error?: unknown;
  },
  found: string | undefined,
): RequestedCall {
  const { toolCallId, toolName, input } = part;
  const invalid =
    part.invalid === true ? `The call of ${toolName} is not well formed: ${part.error}` : undefined;
  const fault = NoSuchToolError.isInstance(part.error) ? NO_SUCH_TOOL : (found ?? invalid);
  return { modelCallId: toolCallId, toolName, input, ...(fault !== undefined && { fault }) };
}

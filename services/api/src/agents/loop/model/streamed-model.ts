/**
 * Reads a model's stream with little CPU, and collects the reply for the AI SDK. What is done with text and calls is in
 * `model-step.ts`.
 */

import { limitDepth } from '@parley/shared/domain/json/depth';
import { type LanguageModelMiddleware, NoOutputGeneratedError, wrapLanguageModel } from 'ai';

/** A model of the AI SDK, in the version that its providers implement. */
export type ChatModel = Parameters<typeof wrapLanguageModel>[0]['model'];

/** Receives the text of a reply as it arrives. The text blocks of a reply are numbered from 0. */
export interface ReplyReceiver {
  delta(block: number, text: string): Promise<void>;
  finished(block: number): Promise<void>;
  /** The model is reasoning. */
  reasons(): Promise<void>;
  /** The model makes a call. `json` is the text of the arguments as the model wrote it. */
  called(toolCallId: string, toolName: string, json: string): void;
}

type WrapGenerate = NonNullable<LanguageModelMiddleware['wrapGenerate']>;
type ModelReply = Awaited<ReturnType<WrapGenerate>>;
type PartStream = Awaited<ReturnType<Parameters<WrapGenerate>[0]['doStream']>>['stream'];
type Part = PartStream extends ReadableStream<infer P> ? P : never;
type Growing = Extract<ModelReply['content'][number], { type: 'text' | 'reasoning' }>;

const UNKNOWN_USAGE: ModelReply['usage'] = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/**
 * Makes `generateText` read the model's stream: text is passed on as it arrives, and the whole reply is returned. `streamText`
 * passes every part through a dozen web streams, which takes more CPU than the rest of a turn.
 *
 * A reply that breaks off is not requested again, because its text has already been passed on. On abort, the signal's reason is
 * thrown.
 */
export function readByStream(model: ChatModel, receiver: ReplyReceiver, signal: AbortSignal): ChatModel {
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v3',
      wrapGenerate: async ({ doStream }) => readReply((await doStream()).stream, receiver, signal),
    },
  });
}

async function readReply(
  stream: PartStream,
  receiver: ReplyReceiver,
  signal: AbortSignal,
): Promise<ModelReply> {
  const reply = createReply(receiver);
  const reader = stream.getReader();
  const cancel = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', cancel);
  try {
    signal.throwIfAborted();
    for (let next = await reader.read(); !next.done; next = await reader.read()) await reply.take(next.value);
    signal.throwIfAborted();
    return reply.whole();
  } catch (cause) {
    cancel();
    signal.throwIfAborted();
    // The original error is wrapped, because the SDK might take it as a reason to request the reply again.
    throw new Error('The reply of the model broke off.', { cause });
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Collects the parts of one reply. */
function createReply(receiver: ReplyReceiver) {
  const content: ModelReply['content'] = [];
  const texts = createGrowingTexts(content);
  const callIds = new Set<string>();
  let warnings: ModelReply['warnings'] = [];
  let finish: Extract<Part, { type: 'finish' }> | undefined;

  async function take(part: Part): Promise<void> {
    switch (part.type) {
      case 'stream-start':
        warnings = part.warnings;
        return;
      case 'text-start':
        return texts.begin('text', part);
      case 'text-delta': {
        const block = texts.grow('text', part);
        return part.delta === '' ? undefined : receiver.delta(block, part.delta);
      }
      case 'text-end':
        return receiver.finished(texts.end('text', part));
      case 'reasoning-start':
        texts.begin('reasoning', part);
        return receiver.reasons();
      case 'reasoning-delta':
        texts.grow('reasoning', part);
        return receiver.reasons();
      case 'reasoning-end':
        return void texts.end('reasoning', part);
      case 'tool-call': {
        const toolCallId = uniqueId(callIds, part.toolCallId);
        receiver.called(toolCallId, part.toolName, part.input);
        content.push({ ...part, toolCallId, input: limitDepth(part.input) });
        return;
      }
      case 'tool-result':
        if (part.preliminary !== true) content.push(part);
        return;
      case 'file':
      case 'source':
      case 'tool-approval-request':
        content.push(part);
        return;
      case 'finish':
        finish = part;
        return;
      case 'error':
        throw part.error;
    }
  }

  return {
    take,
    whole(): ModelReply {
      if (finish === undefined && content.length === 0) throw new NoOutputGeneratedError();
      const { finishReason = { unified: 'other', raw: undefined }, usage = UNKNOWN_USAGE } = finish ?? {};
      return { content, warnings, finishReason, usage };
    },
  };
}

/** The texts of a reply that may still grow. Each is a part of `content`. Some models reuse an id for a later text. */
function createGrowingTexts(content: ModelReply['content']) {
  const open = new Map<string, { readonly text: Growing; readonly block: number }>();
  let blocks = 0;

  type Named = Pick<Extract<Part, { type: 'text-start' }>, 'id' | 'providerMetadata'>;

  function find(type: Growing['type'], { id, providerMetadata }: Named) {
    const known = open.get(`${type} ${id}`) ?? add(type, id);
    if (providerMetadata !== undefined) known.text.providerMetadata = providerMetadata;
    return known;
  }

  function add(type: Growing['type'], id: string) {
    const added = { text: { type, text: '' } as Growing, block: blocks };
    if (type === 'text') blocks += 1;
    content.push(added.text);
    open.set(`${type} ${id}`, added);
    return added;
  }

  return {
    begin(type: Growing['type'], named: Named): void {
      open.delete(`${type} ${named.id}`);
      find(type, named);
    },
    /** Adds text. Returns the number of the text's block. */
    grow(type: Growing['type'], { delta, ...named }: Named & { readonly delta: string }): number {
      const { text, block } = find(type, named);
      text.text += delta;
      return block;
    },
    /** Ends a text. Returns the number of the text's block. */
    end(type: Growing['type'], named: Named): number {
      const { block } = find(type, named);
      open.delete(`${type} ${named.id}`);
      return block;
    },
  };
}

/** The SDK would merge two calls of one reply that have the same id. */
function uniqueId(known: Set<string>, id: string): string {
  let unique = id;
  for (let attempt = 1; known.has(unique); attempt += 1) unique = `${id}_${attempt}`;
  known.add(unique);
  return unique;
}

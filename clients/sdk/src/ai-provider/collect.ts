import type { UIMessageChunk } from 'ai';
import { createModelParts, NO_USAGE } from './parts.ts';
import { warningsOf } from './prompt.ts';
import type { ModelCall, ModelResult, ModelStreamPart } from './types.ts';

/** Collects a whole turn into one result. `providerMetadata.parley.elicitations` has the newest state of each question. */
export async function collect(call: ModelCall, chunks: AsyncIterable<UIMessageChunk>): Promise<ModelResult> {
  const parts = createModelParts();
  const questions = new Map<string, unknown>();
  const result = createResult();
  for await (const chunk of chunks) {
    if (chunk.type === 'data-elicitation-request') questions.set(chunk.id ?? '', chunk.data);
    for (const part of parts.take(chunk)) result.add(part);
  }
  const elicitations = [...questions.values()] as never[];
  return {
    ...result.done(),
    usage: NO_USAGE,
    warnings: warningsOf(call),
    providerMetadata: { parley: { elicitations } },
  };
}

function createResult() {
  const texts = new Map<string, string>();
  const content: ModelResult['content'] = [];
  let finishReason: ModelResult['finishReason'] = { unified: 'other', raw: undefined };
  let id: string | undefined;
  return {
    /** Adds a part. Throws the error of a failed turn. */
    add(part: ModelStreamPart): void {
      switch (part.type) {
        case 'error':
          throw part.error;
        case 'response-metadata':
          id = part.id;
          return;
        case 'text-delta':
          texts.set(part.id, (texts.get(part.id) ?? '') + part.delta);
          return;
        case 'text-end':
          content.push({ type: 'text', text: texts.get(part.id) ?? '' });
          return;
        case 'tool-call':
        case 'tool-result':
          content.push(part);
          return;
        case 'finish':
          finishReason = part.finishReason;
      }
    },
    done: () => ({ content, finishReason, ...(id !== undefined && { response: { id } }) }),
  };
}

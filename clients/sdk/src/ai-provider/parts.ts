import { ParleyClientError } from '@parley/core';
import type { UIMessageChunk } from 'ai';
import type { ModelResult, ModelStreamPart, ParleyDataPart } from './types.ts';

/** Converts the chunks of a turn to the parts of a model's stream. */
interface ModelParts {
  take(chunk: UIMessageChunk): readonly ModelStreamPart[];
}

// A chat stream does not report tokens.
export const NO_USAGE: ModelResult['usage'] = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** Tool calls of the agent are marked as executed by the provider, so that the application does not make them. */
export function createModelParts(): ModelParts {
  const names = new Map<string, string>();

  function result(toolCallId: string, output: unknown, isError: boolean): ModelStreamPart[] {
    const toolName = names.get(toolCallId);
    if (toolName === undefined) return [];
    const value = (output ?? '') as Extract<ModelStreamPart, { type: 'tool-result' }>['result'];
    return [{ type: 'tool-result', toolCallId, toolName, result: value, isError, dynamic: true }];
  }

  return {
    take(chunk) {
      switch (chunk.type) {
        case 'start':
          return chunk.messageId === undefined ? [] : [{ type: 'response-metadata', id: chunk.messageId }];
        case 'text-start':
        case 'text-end':
          return [{ type: chunk.type, id: chunk.id }];
        case 'text-delta':
          return [{ type: 'text-delta', id: chunk.id, delta: chunk.delta }];
        case 'tool-input-available': {
          const { toolCallId, toolName } = chunk;
          names.set(toolCallId, toolName);
          const input = JSON.stringify(chunk.input ?? {});
          return [{ type: 'tool-call', toolCallId, toolName, input, providerExecuted: true, dynamic: true }];
        }
        case 'tool-output-available':
          return chunk.preliminary === true ? [] : result(chunk.toolCallId, chunk.output, false);
        case 'tool-output-error':
          return result(chunk.toolCallId, chunk.errorText, true);
        case 'error':
          return [{ type: 'error', error: new ParleyClientError('internal', chunk.errorText) }];
        case 'finish':
          return [{ type: 'finish', usage: NO_USAGE, finishReason: reasonOf(chunk.finishReason) }];
        default:
          return [];
      }
    },
  };
}

/**
 * The finish reason. The agent has made the calls itself, so a turn that ran out of steps must not look like one whose calls
 * the application should make.
 */
function reasonOf(
  raw: Extract<UIMessageChunk, { type: 'finish' }>['finishReason'],
): ModelResult['finishReason'] {
  return { unified: raw === 'tool-calls' ? 'length' : (raw ?? 'stop'), raw };
}

/** The data part in a chunk, if it is one. */
export function dataPartOf(chunk: UIMessageChunk): ParleyDataPart | undefined {
  return chunk.type.startsWith('data-') ? (chunk as ParleyDataPart) : undefined;
}

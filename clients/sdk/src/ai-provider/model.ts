/**
 * Makes Parley's agents usable as models of the AI SDK. Converting chunks and prompts is in the files beside it, and reading a
 * whole turn in `chat/whole-turn.ts`.
 */

import { createRandomId, isParleyClientError, ParleyClientError } from '@parley/core';
import type { UIMessageChunk } from 'ai';
import { type ChatTransportOptions, createChatTransport } from '../chat/transport.ts';
import { followTurn } from '../chat/whole-turn.ts';
import { createClient } from '../client.ts';
import { collect } from './collect.ts';
import { createModelParts, dataPartOf } from './parts.ts';
import { messagesOf, warningsOf } from './prompt.ts';
import type { ModelCall, ModelStreamPart, ParleyDataPart, ParleyModel } from './types.ts';

export type ParleyProviderOptions = Pick<ChatTransportOptions, 'baseUrl' | 'token' | 'retry' | 'fetch'>;

export interface ParleyModelSettings {
  /** The conversation of the calls. Without it, each call begins a new one. */
  readonly conversationId?: string;
  /**
   * The questions that the page can show, as in the header `x-supports-elicitation`. @default 'true' with `onData`, else 'none'
   */
  readonly supports?: string;
  /** Called with every data part: notices, and questions (`data-elicitation-request`), again on each change. */
  readonly onData?: (part: ParleyDataPart) => void;
}

/** Makes models: `parley('helper')` is the agent `helper`, and `parley()` the server's default agent. */
export type ParleyProvider = (agent?: string, settings?: ParleyModelSettings) => ParleyModel;

/**
 * Makes Parley's agents usable as models of the AI SDK, versions 6 and 7. A call is one turn: it lasts until the turn
 * has ended, even over lost connections, restarted pods and waits for the person. Aborting the call stops the turn. The
 * agent itself makes its tool calls. Errors are ParleyClientError.
 *
 * @example
 * const parley = createParleyProvider({ baseUrl: 'https://parley.example.com', token: userToken });
 * const stream = createUIMessageStream({
 *   execute({ writer }) {
 *     const model = parley('helper', { conversationId, onData: (part) => writer.write(part) });
 *     writer.merge(streamText({ model, messages }).toUIMessageStream());
 *   },
 * });
 */
export function createParleyProvider(options: ParleyProviderOptions): ParleyProvider {
  const { baseUrl, token } = options;
  const place = { baseUrl, token, ...(options.fetch !== undefined && { fetch: options.fetch }) };
  const parley = createClient(place);
  return (agent, settings = {}) => {
    const { onData, supports = onData === undefined ? 'none' : 'true' } = settings;
    const transport = createChatTransport({
      ...options,
      headers: { 'x-supports-elicitation': supports },
      ...(agent !== undefined && { body: { agent } }),
    });

    async function* chunksOf(call: ModelCall): AsyncGenerator<UIMessageChunk, void> {
      const chatId = settings.conversationId ?? `ai_${createRandomId()}`;
      const { abortSignal = new AbortController().signal } = call;
      const send = (signal: AbortSignal) =>
        transport.sendMessages({
          trigger: 'submit-message',
          chatId,
          messageId: undefined,
          messages: messagesOf(call),
          abortSignal: signal,
        });
      const stop = () => void transport.stopTurn(chatId).catch(() => undefined);
      abortSignal.addEventListener('abort', stop, { once: true });
      try {
        for await (const chunk of followTurn({ transport, parley }, chatId, send, abortSignal)) {
          const part = dataPartOf(chunk);
          if (part !== undefined) onData?.(part);
          yield chunk;
        }
      } finally {
        abortSignal.removeEventListener('abort', stop);
      }
    }

    return {
      specificationVersion: 'v3',
      provider: 'parley',
      modelId: agent ?? 'default',
      supportedUrls: {},
      async doStream(call) {
        const chunks = chunksOf(call);
        // The first chunk shows whether the call was accepted: `ai` retries a rejected call, but not a failed stream.
        const first = await chunks.next().catch(refusal);
        return { stream: streamOf(call, first, chunks) };
      },
      async doGenerate(call) {
        return collect(call, chunksOf(call));
      },
    };
  };
}

function streamOf(
  call: ModelCall,
  first: IteratorResult<UIMessageChunk, void>,
  chunks: AsyncGenerator<UIMessageChunk, void>,
): ReadableStream<ModelStreamPart> {
  const parts = createModelParts();
  let next: IteratorResult<UIMessageChunk, void> | undefined = first;
  const partsOf = (chunk: UIMessageChunk): readonly ModelStreamPart[] => {
    const data = dataPartOf(chunk);
    if (data === undefined) return parts.take(chunk);
    return call.includeRawChunks === true ? [{ type: 'raw', rawValue: data }] : [];
  };
  return new ReadableStream({
    start: (controller) => controller.enqueue({ type: 'stream-start', warnings: warningsOf(call) }),
    async pull(controller) {
      try {
        // Each pull must enqueue something; otherwise the stream does not pull again.
        for (let isEmpty = true; isEmpty; next = undefined) {
          const { value, done } = next ?? (await chunks.next());
          if (done === true) return controller.close();
          const found = partsOf(value);
          for (const part of found) controller.enqueue(part);
          isEmpty = found.length === 0;
        }
      } catch (error) {
        controller.error(error);
      }
    },
    async cancel() {
      await chunks.return();
    },
  });
}

/** `ai` retries only transient errors of its own class; the transport has already retried, so none is thrown. */
function refusal(error: unknown): never {
  if (!isParleyClientError(error)) throw error;
  throw new ParleyClientError(error.code, error.message, { status: error.status, cause: error });
}

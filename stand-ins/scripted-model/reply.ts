/** Makes chat completions replies, in pieces or whole. What a reply says is decided by the script. */

import { createHash } from 'node:crypto';
import { type ChatMessage, type ChatRequest, textOf } from './protocol.ts';
import type { FinishReason, ScriptedReply } from './script.ts';

/** The model that every reply names, whatever model the request names. */
export const SCRIPTED_MODEL = 'scripted';

interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: 'function';
  readonly function: { readonly name?: string; readonly arguments: string };
}

type Delta =
  | { readonly reasoning_content: string }
  | { readonly content: string }
  | { readonly tool_calls: readonly [ToolCallDelta] };

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** A reply ready to be sent, in pieces or as a whole. */
export interface PreparedReply {
  readonly id: string;
  readonly deltas: readonly Delta[];
  readonly finishReason: FinishReason;
  /** Pieces count as tokens: the words of messages, and the deltas of the reply. */
  readonly usage: Usage;
}

// So small that the arguments of any call come in several pieces.
const ARGUMENT_PIECE = 6;

/** Splits a reply into deltas, at most as many as the request's token limit allows. */
export function prepare(reply: ScriptedReply, request: ChatRequest): PreparedReply {
  const digest = createHash('sha256').update(JSON.stringify(request.messages)).digest('hex').slice(0, 20);
  const all = [
    ...wordsIn(reply.reasoning ?? '').map((word) => ({ reasoning_content: word })),
    ...wordsIn(reply.text ?? '').map((content) => ({ content })),
    ...callDeltas(reply, digest),
  ];
  const limit = request.max_completion_tokens ?? request.max_tokens ?? all.length;
  const deltas = all.slice(0, limit);
  const ended = reply.finishReason ?? (reply.calls?.length ? 'tool_calls' : 'stop');
  const prompt = request.messages.reduce((sum, message) => sum + wordsOf(message), 0);
  return {
    id: `chatcmpl-${digest}`,
    deltas,
    finishReason: deltas.length < all.length ? 'length' : ended,
    usage: {
      prompt_tokens: prompt,
      completion_tokens: deltas.length,
      total_tokens: prompt + deltas.length,
    },
  };
}

/** The chunks of a streamed reply in order, without the final `[DONE]`. */
export function chunksOf(reply: PreparedReply, includeUsage: boolean): object[] {
  const chunk = (delta: object, finishReason: FinishReason | null) => ({
    ...headOf(reply, 'chat.completion.chunk'),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    ...(includeUsage && { usage: null }),
  });
  return [
    chunk({ role: 'assistant', content: '' }, null),
    ...reply.deltas.map((delta) => chunk(delta, null)),
    chunk({}, reply.finishReason),
    ...(includeUsage ? [{ ...headOf(reply, 'chat.completion.chunk'), choices: [], usage: reply.usage }] : []),
  ];
}

/** The reply to a request without `stream`. */
export function completionOf(reply: PreparedReply): object {
  const texts: string[] = [];
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
  for (const delta of reply.deltas) {
    if ('reasoning_content' in delta) continue;
    if ('content' in delta) {
      texts.push(delta.content);
      continue;
    }
    const [{ index, id = '', function: piece }] = delta.tool_calls;
    const call = calls[index];
    if (call === undefined)
      calls.push({ id, type: 'function', function: { name: piece.name ?? '', arguments: piece.arguments } });
    else call.function.arguments += piece.arguments;
  }
  const message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.join(''),
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    ...headOf(reply, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: reply.finishReason }],
    usage: reply.usage,
  };
}

// `created` is fixed, so that the same request always gets the same bytes.
function headOf({ id }: PreparedReply, object: string): object {
  return { id, object, created: 0, model: SCRIPTED_MODEL };
}

function wordsIn(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

function callDeltas({ calls = [] }: ScriptedReply, digest: string): Delta[] {
  return calls.flatMap(({ name, arguments: given }, index): Delta[] => {
    const text = typeof given === 'string' ? given : JSON.stringify(given);
    const id = `call_${digest}_${index}`;
    return [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...piecesOf(text).map((piece): Delta => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ];
  });
}

function piecesOf(text: string): string[] {
  const points = [...text];
  return Array.from({ length: Math.ceil(points.length / ARGUMENT_PIECE) }, (_, at) =>
    points.slice(at * ARGUMENT_PIECE, (at + 1) * ARGUMENT_PIECE).join(''),
  );
}

function wordsOf(message: ChatMessage): number {
  return textOf(message.content).match(/\S+/g)?.length ?? 0;
}

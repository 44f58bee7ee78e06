import { endsTurn, type TurnEvent, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { StreamItem } from '@parley/shared/elicitations/watch';
import { DONE, type Encoded, type Encoder, framesOf, silent } from '../../turns/encoder.ts';
import {
  type ChatCompletionChunk,
  completionId,
  OPENAI_FINISH,
  type OpenAiError,
  openAiError,
  openAiUsage,
} from '../../turns/openai-shapes.ts';
import { jsonLine } from '../../turns/plain.ts';
import { shownElicitation } from '../../turns/shown.ts';
import { envelopeOf } from './envelopes.ts';
import { createOpenAiStep } from './step.ts';

export interface OpenAiOptions {
  /** The name the caller asked for. */
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** The caller understands envelopes: questions, notices and tool activity as JSON in `delta.content`. */
  readonly envelopes: boolean;
  /** The caller wants the reply to end when the turn is detached; else it stays, for this format has no other way back. */
  readonly detaches?: boolean;
  /** The caller asked for a last chunk with the tokens used (`stream_options.include_usage`). */
  readonly usage: boolean;
  /**
   * `live` tells text as it comes, and ends in the error `step_restarted` when a step must be told again. `buffered`
   * keeps all of a step but its questions until it has ended, so that a restart goes unseen.
   */
  readonly steps: 'live' | 'buffered';
}

type Finished = Extract<TurnEvent, { type: 'turn-finished' }>;
type Line = ChatCompletionChunk | OpenAiError;
type Delta = ChatCompletionChunk['choices'][number]['delta'];

const RESTARTED =
  'A part of this answer is being written again, which this format cannot show. The answer goes on; the conversation will hold it.';
const LOST = 'The stream of this answer was lost. Please ask again.';

/**
 * Encodes a turn as OpenAI chat completion chunks. Everything a stock client sees is text of the assistant; what it
 * could mistake for text it gets only when it asked for it. Tools run on this side, so their calls are never
 * `tool_calls`, which would ask the client to run them. An envelope is one whole `delta.content`.
 */
export function createOpenAiEncoder(options: OpenAiOptions): Encoder {
  const buffered = options.steps === 'buffered';
  let step = createOpenAiStep(buffered);
  let id: string | undefined;
  let lastId: string | undefined;
  let over = false;

  function chunkOf(choices: ChatCompletionChunk['choices'], usage: ChatCompletionChunk['usage'] = null) {
    const { model, created } = options;
    return {
      id: id ?? completionId(String(created)),
      object: 'chat.completion.chunk' as const,
      created,
      model,
      choices,
      ...(options.usage && { usage }),
    };
  }

  function deltaOf(delta: Delta): ChatCompletionChunk {
    return chunkOf([{ index: 0, delta, finish_reason: null }]);
  }

  function begin(messageId: string | undefined): Line[] {
    if (id !== undefined) return [];
    id = completionId(messageId ?? String(options.created));
    return [deltaOf({ role: 'assistant', content: '' })];
  }

  function saying(contents: readonly string[]): Line[] {
    return contents.length === 0
      ? []
      : [...begin(undefined), ...contents.map((content) => deltaOf({ content }))];
  }

  function finish({ reason, usage: used }: Pick<Finished, 'reason' | 'usage'>): Line[] {
    const usage = options.usage ? openAiUsage(used) : undefined;
    return [
      ...saying(step.end()),
      ...begin(undefined),
      chunkOf([{ index: 0, delta: {}, finish_reason: OPENAI_FINISH[reason] }]),
      ...(usage === undefined ? [] : [chunkOf([], usage)]),
    ];
  }

  function failed(code: string, message: string): Line[] {
    over = true;
    return [openAiError(code, message)];
  }

  function linesOf(event: TurnEvent): Line[] {
    switch (event.type) {
      case 'turn-started':
        return begin(event.messageId);
      case 'step-started':
        return saying(step.begin(event.step));
      case 'step-finished':
        return saying(step.end());
      case 'step-restarted':
        return step.hasText(event.step)
          ? failed('step_restarted', RESTARTED)
          : saying(step.restart(event.step).map(jsonLine));
      case 'text-delta':
        return saying(step.text(event.block, event.text));
      case 'text-finished':
        return saying(step.finishBlock(event.block));
      case 'turn-finished':
        return finish(event);
      case 'turn-failed':
        return [...saying(step.end()), openAiError(event.code, event.message)];
      case 'run-paused':
      case 'run-resumed':
      case 'turn-attached':
        return [];
      case 'turn-detached':
        return over ? finish({ reason: 'stop' }) : [];
      default:
        return options.envelopes ? saying(step.envelope(jsonLine(envelopeOf(event)))) : [];
    }
  }

  function encodeOther(item: Extract<StreamItem, { type: 'other' }>): Encoded {
    const event = turnEventOf(item.event);
    if (event === undefined) return silent('more');
    over = endsTurn(event) || (event.type === 'turn-detached' && options.detaches === true);
    return send(linesOf(event), item.id);
  }

  function send(lines: readonly Line[], itemId: string): Encoded {
    const frames = framesOf([...lines.map(jsonLine), ...(over ? [DONE] : [])], itemId, lastId);
    if (frames.length > 0) lastId = itemId;
    return { frames, next: over ? 'end' : 'more' };
  }

  return {
    encode(item) {
      if (over) return silent('end');
      if (item.type === 'other') return encodeOther(item);
      if (item.type === 'reset') {
        if (lastId !== undefined) return send(failed('stream_lost', LOST), lastId);
        step = createOpenAiStep(buffered);
        return silent('more');
      }
      if (!options.envelopes) return silent('more');
      const shown = shownElicitation(item.elicitation);
      return send(saying([jsonLine({ type: item.event, ...shown })]), item.id);
    },
  };
}

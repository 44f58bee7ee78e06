import { endsTurn, type TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { DONE, type Frame, STREAM_CLOSED } from '../../http/sse.ts';
import { shownApproval } from '../../turns/approvals/shown.ts';
import { completionId, OPENAI_FINISH, openAiUsage } from '../../turns/completion.ts';
import { type Encoded, type Encoder, silent } from '../../turns/encoder.ts';
import type { FollowedEvent } from '../../turns/follow.ts';
import { jsonLine } from '../../turns/plain.ts';
import { shownElicitation } from '../../turns/shown.ts';
import { envelopeOf } from './envelopes.ts';
import { type ChatCompletionChunk, type OpenAiError, openAiError } from './shapes.ts';
import { createOpenAiStep } from './step.ts';

export interface OpenAiOptions {
  /** The name the caller asked for. */
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  /**
   * Marks the envelopes of this stream: questions, notices and tool activity as JSON in `delta.content`. It is random, so
   * that no text of a model can contain it. `undefined`: the caller does not understand envelopes and gets none.
   */
  readonly nonce: string | undefined;
  /** True: the reply ends when the turn is detached. By default it stays open, as this format cannot resume. */
  readonly detaches?: boolean;
  /** The caller asked for a last chunk with the tokens used (`stream_options.include_usage`). */
  readonly usage: boolean;
  /**
   * `live` sends text as it comes, and ends in the error `step_restarted` when a step with text is repeated. `buffered`
   * holds all of a step but its questions until it has ended, so that a restart goes unseen.
   */
  readonly steps: 'live' | 'buffered';
}

/** The last chunks for a reader whose token has expired: this format cannot resume. */
export const OPENAI_ON_EXPIRY: readonly Frame[] = [
  jsonLine(
    openAiError(
      STREAM_CLOSED.reason,
      'Your token has expired. The answer goes on; the conversation will hold it.',
    ),
  ),
  DONE,
].map((text) => ({ text }));

type OpenAiFinished = Extract<TurnEvent, { type: 'turn-finished' }>;
type Line = ChatCompletionChunk | OpenAiError;
type Delta = ChatCompletionChunk['choices'][number]['delta'];

const RESTARTED =
  'A part of this answer is being written again, which this format cannot show. The answer continues; the conversation will hold it.';
const LOST = 'The stream of this answer was lost. Please ask again.';

/**
 * Encodes a turn as OpenAI chat completion chunks. Everything a stock client sees is text of the assistant; what it
 * could mistake for text it gets only when it asked for it. Frames have no ids, because nobody can resume, and Python's
 * decoder takes a comment after an id for an event. Tools run in Parley, so their calls are never
 * `tool_calls`, which would ask the client to run them. An envelope is one whole `delta.content` with the stream's nonce.
 */
export function createOpenAiEncoder(options: OpenAiOptions): Encoder<Frame> {
  const { nonce } = options;
  const buffered = options.steps === 'buffered';
  let step = createOpenAiStep(buffered);
  let id: string | undefined;
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
    const first = deltaOf({ role: 'assistant', content: '' });
    return [nonce === undefined ? first : { ...first, parley: { nonce } }];
  }

  function contentLines(contents: readonly string[]): Line[] {
    return contents.length === 0
      ? []
      : [...begin(undefined), ...contents.map((content) => deltaOf({ content }))];
  }

  function envelopeText(envelope: object): string {
    return jsonLine({ ...envelope, nonce });
  }

  function finish({ reason, usage: used }: Pick<OpenAiFinished, 'reason' | 'usage'>): Line[] {
    const usage = options.usage ? openAiUsage(used) : undefined;
    return [
      ...contentLines(step.end()),
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
        return contentLines(step.begin(event.step));
      case 'step-finished':
        return contentLines(step.end());
      case 'step-restarted':
        return step.hasText(event.step)
          ? failed('step_restarted', RESTARTED)
          : contentLines(step.restart(event.step).map(envelopeText));
      case 'text-delta':
        return contentLines(step.text(event.block, event.text));
      case 'text-finished':
        return contentLines(step.finishBlock(event.block));
      case 'turn-finished':
        return finish(event);
      case 'turn-failed':
        return [...contentLines(step.end()), openAiError(event.code, event.message)];
      case 'run-paused':
      case 'run-resumed':
      case 'turn-attached':
      case 'tool-progress':
      case 'tool-log':
      case 'tool-partial':
        return [];
      case 'turn-detached':
        return over ? finish({ reason: 'stop' }) : [];
      default:
        return nonce === undefined ? [] : contentLines(step.envelope(envelopeText(envelopeOf(event))));
    }
  }

  function encodeTurnEvent(event: TurnEvent): Encoded<Frame> {
    over = endsTurn(event) || (event.type === 'turn-detached' && options.detaches === true);
    return send(linesOf(event));
  }

  function send(lines: readonly Line[]): Encoded<Frame> {
    const frames = [...lines.map(jsonLine), ...(over ? [DONE] : [])].map((text) => ({ text }));
    return { frames, next: over ? 'end' : 'more' };
  }

  function restart(): Encoded<Frame> {
    if (id !== undefined) return send(failed('stream_lost', LOST));
    step = createOpenAiStep(buffered);
    return silent('more');
  }

  function encode(event: FollowedEvent): Encoded<Frame> {
    switch (event.type) {
      case 'turn':
        return encodeTurnEvent(event.event);
      case 'question': {
        if (nonce === undefined) return silent('more');
        const shown = shownElicitation(event.elicitation);
        return send(contentLines([envelopeText({ type: event.change, ...shown })]));
      }
      case 'approval': {
        if (nonce === undefined) return silent('more');
        const shown = shownApproval(event.approval);
        return send(contentLines([envelopeText({ type: event.change, ...shown })]));
      }
      case 'lost':
        return restart();
      case 'detachment-passed':
      case 'unknown':
      case 'stale':
        return silent('more');
    }
  }

  return {
    encode(event) {
      if (over) return silent('end');
      const encoded = encode(event);
      const waits = 'isWaiting' in event && event.isWaiting && encoded.next === 'more';
      if (!waits) return encoded;
      const end = encodeTurnEvent({ type: 'turn-detached' });
      return { ...end, frames: [...encoded.frames, ...end.frames] };
    },
  };
}

/**
 * Encodes a turn in OpenAI's formats: what is text, what is an envelope, when it ends. The formats differ only in
 * `completion-format.ts` and `response-format.ts`.
 */

import { endsTurn, type TurnEvent } from '@parley/shared/domain/runs/turn-events';
import { type Frame, STREAM_CLOSED } from '../../http/sse.ts';
import { shownApproval } from '../../turns/approvals/shown.ts';
import { type Encoded, type Encoder, silent } from '../../turns/encoder.ts';
import type { FollowedEvent } from '../../turns/follow.ts';
import { jsonLine } from '../../turns/plain.ts';
import { shownElicitation } from '../../turns/shown.ts';
import { envelopeOf } from './envelopes.ts';
import type { OpenAiContent, OpenAiFormat, OpenAiLine } from './format.ts';
import { createOpenAiStep } from './step.ts';

export interface OpenAiOptions {
  /**
   * Marks the envelopes of this stream, which are questions, notices and tool activity as JSON in the text. It is random, so a
   * model's text cannot contain it. `undefined`: the caller does not understand envelopes and gets none.
   */
  readonly nonce: string | undefined;
  /** True if the reply ends when the turn is detached. By default it stays open, because these formats cannot resume. */
  readonly detaches?: boolean;
  /**
   * `live` sends text as it comes, and ends with the error `step_restarted` if a step with text is repeated. `buffered` holds
   * back a step, except for its questions, until it has ended, so that readers do not notice a restart.
   */
  readonly steps: 'live' | 'buffered';
}

/** The error for a reader whose token has expired, because these formats cannot resume. */
export const OPENAI_EXPIRED = {
  code: STREAM_CLOSED.reason,
  message: 'Your token has expired. The answer goes on; the conversation will hold it.',
} as const;

const RESTARTED =
  'A part of this answer is being written again, which this format cannot show. The answer continues; the conversation will hold it.';
const LOST = 'The stream of this answer was lost. Please ask again.';

/**
 * Encodes a turn in one of OpenAI's formats. Standard clients see only the assistant's text; what they could mistake for it is
 * sent only on request. Frames have no ids, because these formats cannot resume, and Python's decoder takes a comment after an
 * id for an event. Tools run in Parley, so their calls are not sent as function calls, which would ask the client to run them.
 * An envelope is one whole delta of the text and contains the stream's nonce.
 */
export function createOpenAiEncoder(options: OpenAiOptions, format: OpenAiFormat): Encoder<Frame> {
  const { nonce } = options;
  const buffered = options.steps === 'buffered';
  let step = createOpenAiStep(buffered);
  let hasBegun = false;
  let over = false;

  function begin(messageId?: string): readonly OpenAiLine[] {
    if (hasBegun) return [];
    hasBegun = true;
    return format.begin(messageId);
  }

  function contentLines(contents: readonly OpenAiContent[]): OpenAiLine[] {
    return contents.length === 0 ? [] : [...begin(), ...contents.flatMap(format.content)];
  }

  function envelopeText(envelope: object): string {
    return jsonLine({ ...envelope, nonce });
  }

  function envelopeLines(envelopes: readonly object[]): OpenAiLine[] {
    return contentLines(envelopes.map((envelope) => ({ text: envelopeText(envelope), isEnvelope: true })));
  }

  /** The rest of the step, followed by these last events. */
  function ending(last: () => readonly OpenAiLine[]): OpenAiLine[] {
    return [...contentLines(step.end()), ...begin(), ...last()];
  }

  function failed(code: string, message: string): readonly OpenAiLine[] {
    over = true;
    return format.fail(code, message);
  }

  function linesOf(event: TurnEvent): readonly OpenAiLine[] {
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
          : envelopeLines(step.restart(event.step));
      case 'text-delta':
        return contentLines(step.text(event.block, event.text));
      case 'text-finished':
        return contentLines(step.finishBlock(event.block));
      case 'turn-finished':
        return ending(() => format.finish(event));
      case 'turn-failed':
        return [...contentLines(step.end()), ...format.fail(event.code, event.message)];
      // The format cannot express this.
      case 'thinking-started':
      case 'thinking-finished':
      case 'run-paused':
      case 'run-resumed':
      case 'turn-attached':
      case 'tool-progress':
      case 'tool-log':
      case 'client-asked':
      case 'client-ask-ended':
      case 'tool-partial':
        return [];
      case 'turn-detached':
        return over ? ending(format.wait) : [];
      default:
        return nonce === undefined ? [] : contentLines(step.envelope(envelopeText(envelopeOf(event))));
    }
  }

  function encodeTurnEvent(event: TurnEvent): Encoded<Frame> {
    over = endsTurn(event) || (event.type === 'turn-detached' && options.detaches === true);
    return send(linesOf(event));
  }

  function send(frames: readonly OpenAiLine[]): Encoded<Frame> {
    return { frames, next: over ? 'end' : 'more' };
  }

  function restart(): Encoded<Frame> {
    if (hasBegun) return send(failed('stream_lost', LOST));
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
        return send(envelopeLines([{ type: event.change, ...shown }]));
      }
      case 'approval': {
        if (nonce === undefined) return silent('more');
        const shown = shownApproval(event.approval);
        return send(envelopeLines([{ type: event.change, ...shown }]));
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

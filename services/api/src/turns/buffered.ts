import { endsTurn, type TurnEvent, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { StreamItem } from '@parley/shared/elicitations/watch';
import { createMessageParts, type UiMessagePart } from './message-parts.ts';
import { type ChatCompletion, completionId, OPENAI_FINISH, openAiUsage } from './openai-shapes.ts';
import { jsonLine } from './plain.ts';
import { BLOCK_GAP } from './text.ts';

export type Finished = Extract<TurnEvent, { type: 'turn-finished' }>;
export type Failed = Extract<TurnEvent, { type: 'turn-failed' }>;

/** A turn's message as the AI SDK keeps it (`UIMessage`). */
export interface BufferedMessage {
  readonly id: string;
  readonly role: 'assistant';
  readonly parts: readonly UiMessagePart[];
}

/** A whole turn, collected for callers that do not stream. */
export interface BufferedTurn {
  /** Takes the next item of the stream request; true once the turn has ended. */
  take(item: StreamItem): boolean;
  /** How it ended; nothing as long as it runs. */
  readonly outcome: Finished | Failed | undefined;
  message(): BufferedMessage;
}

/** Collects a turn. What a restart or the loss of the feed makes void is taken back: nobody has seen it. */
export function createBufferedTurn(): BufferedTurn {
  let parts = createMessageParts();
  let id = '';
  let outcome: Finished | Failed | undefined;
  return {
    get outcome() {
      return outcome;
    },
    take(item) {
      if (outcome !== undefined) return true;
      if (item.type === 'reset') parts = createMessageParts();
      if (item.type === 'elicitation') parts.elicitation(item.elicitation);
      const event = item.type === 'other' ? turnEventOf(item.event) : undefined;
      if (event === undefined) return false;
      if (event.type === 'turn-started') id = event.messageId;
      parts.turn(event);
      if (endsTurn(event)) outcome = event as Finished | Failed;
      return outcome !== undefined;
    },
    message: () => harmless({ id, role: 'assistant', parts: parts.list() }),
  };
}

/** The text of a message, its blocks as paragraphs. */
export function textOfMessage(message: BufferedMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(BLOCK_GAP);
}

/** The message of a finished turn as `chat.completion`. `created` is in seconds since 1970. */
export function completionOf(
  message: BufferedMessage,
  { reason, usage }: Finished,
  head: { readonly model: string; readonly created: number },
): ChatCompletion {
  const used = openAiUsage(usage);
  const content = textOfMessage(message);
  return {
    id: completionId(message.id),
    object: 'chat.completion',
    created: head.created,
    model: head.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal: null },
        logprobs: null,
        finish_reason: OPENAI_FINISH[reason],
      },
    ],
    ...(used !== undefined && { usage: used }),
  };
}

function harmless(message: BufferedMessage): BufferedMessage {
  return JSON.parse(jsonLine(message)) as BufferedMessage;
}

import { endsTurn, type TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { FollowedEvent } from './follow.ts';
import { createMessageParts, type UiMessagePart } from './message-parts.ts';
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
  /** Reads the next event of the turn. Returns true once the turn has ended. */
  take(event: FollowedEvent): boolean;
  /** How the turn ended; undefined while it runs. */
  readonly outcome: Finished | Failed | undefined;
  message(): BufferedMessage;
  /** The text of the message, with its blocks as paragraphs. */
  text(): string;
}

/** Collects a turn. Removes what a restarted step or the loss of the feed supersedes, because no reader has seen it yet. */
export function createBufferedTurn(): BufferedTurn {
  let parts = createMessageParts();
  let id = '';
  let outcome: Finished | Failed | undefined;
  const message = () => harmless({ id, role: 'assistant', parts: parts.list() });
  return {
    get outcome() {
      return outcome;
    },
    take(followed) {
      if (outcome !== undefined) return true;
      if (followed.type === 'lost') parts = createMessageParts();
      if (followed.type === 'question') parts.elicitation(followed.elicitation);
      if (followed.type === 'approval') parts.approval(followed.approval);
      if (followed.type !== 'turn') return false;
      const { event } = followed;
      if (event.type === 'turn-started') id = event.messageId;
      parts.turn(event);
      if (endsTurn(event)) outcome = event as Finished | Failed;
      return outcome !== undefined;
    },
    message,
    text: () =>
      message()
        .parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        .join(BLOCK_GAP),
  };
}

function harmless(message: BufferedMessage): BufferedMessage {
  return JSON.parse(jsonLine(message)) as BufferedMessage;
}

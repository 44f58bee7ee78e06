/** Collects a turn as the messages of its thread. Posting and editing them is in `delivery/turn.ts`. */

import type { KnownBlock } from '@slack/types';
import type { FollowedEvent } from '../../../turns/follow.ts';
import { mrkdwn, textMessage } from './blocks.ts';
import { plain } from './fields.ts';
import { type MarkdownBlocks, messagesOfUnits, wordsOf } from './markdown/blocks.ts';
import { unitsOf, written } from './markdown/document.ts';
import type { Unit } from './markdown/units.ts';
import { ACTION } from './names.ts';
import type { SlackMessage } from './question.ts';
import { BLOCKS_MAX, clipped, clippedToSize, escaped, headOf } from './text.ts';

/** The state of a turn. `superseded`: what was read is no longer valid, and the turn must be read again. */
type ReplyStatus = 'working' | 'waiting' | 'ended' | 'superseded';

/** The reply of a turn, as the messages of its thread. */
export interface ThreadReply {
  take(followed: FollowedEvent): void;
  readonly status: ReplyStatus;
  /** The messages in order, at least one. A new one begins after a question or an approval, and when one is full. */
  messages(streamRequestId: string): SlackMessage[];
}

const NOTIFICATION_MAX = 300;
const ENDING_MAX = 600;
/** How much text fits into a message. The rest is for a note and a button. */
const ROOM = { json: BLOCKS_MAX - 1_000, blocks: 45 };

/**
 * How many characters of a turn are parsed; further text is shown as plain text. The parser takes linear time, but runs again
 * whenever a text grows.
 */
const PARSED_MAX = 50_000;

/** A text that has been parsed. */
interface Parsed {
  readonly markdown: string;
  readonly units: readonly Unit[];
}

/** Collects a turn for its thread. Pure except for its memory of earlier events. */
export function createReply(): ThreadReply {
  /** The texts between questions and approvals. Each contains blocks by their ids. */
  let texts: Map<string, string>[] = [new Map()];
  let status: ReplyStatus = 'working';
  let ending: string | undefined;
  /** The results of the last display, in order. Most of them have not changed since. */
  let parsed: readonly Parsed[] = [];

  function turn(followed: FollowedEvent & { readonly type: 'turn' }): void {
    const { event } = followed;
    switch (event.type) {
      case 'text-delta': {
        const text = texts.at(-1);
        text?.set(event.block, (text.get(event.block) ?? '') + event.text);
        break;
      }
      case 'step-restarted':
        status = 'superseded';
        break;
      case 'turn-detached':
        status = 'waiting';
        break;
      case 'turn-attached':
        status = 'working';
        break;
      case 'turn-finished':
        status = 'ended';
        ending = event.reason === 'stopped' ? '_Stopped._' : undefined;
        break;
      case 'turn-failed':
        status = 'ended';
        ending = `:warning: ${escaped(clippedToSize(event.message, ENDING_MAX))}`;
        break;
      default:
        break;
    }
  }

  return {
    get status() {
      return status;
    },
    take(followed) {
      if (followed.type === 'stale' || followed.type === 'lost') {
        status = 'superseded';
        return;
      }
      if (followed.type === 'turn') turn(followed);
      if (isRequest(followed) && (texts.at(-1)?.size ?? 0) > 0) texts = [...texts, new Map()];
      if (status === 'working' && followed.isWaiting) status = 'waiting';
    },
    messages(streamRequestId) {
      const shown: Parsed[] = [];
      let left = PARSED_MAX;
      const documents = texts.map((text) =>
        [...text.values()].flatMap((whole) => {
          const markdown = headOf(whole, left);
          left -= markdown.length;
          const before = parsed[shown.length];
          const same = before?.markdown === markdown ? before : { markdown, units: unitsOf(markdown) };
          shown.push(same);
          return [same.units, written(whole.slice(markdown.length))];
        }),
      );
      parsed = shown;
      const pieces = documents.flatMap((text) => messagesOfUnits(text, ROOM));
      return messagesOf(pieces, { status, ending, streamRequestId });
    },
  };
}

/** True for a question or an approval, which has a message of its own in this place. */
function isRequest(followed: FollowedEvent): boolean {
  if (followed.type === 'question')
    return followed.change === 'elicitation-request' && !followed.isSuperseded;
  return followed.type === 'approval' && followed.change === 'approval-request' && !followed.isSuperseded;
}

/** The content of a message that is no longer needed, because its text was rewritten in fewer messages. */
export function replacedMessage(): SlackMessage {
  return textMessage('_This part was written again above._');
}

interface Standing {
  readonly status: ReplyStatus;
  readonly ending: string | undefined;
  readonly streamRequestId: string;
}

function messagesOf(pieces: readonly MarkdownBlocks[], standing: Standing): SlackMessage[] {
  const { streamRequestId } = standing;
  const isOpen = standing.status === 'working' || standing.status === 'waiting';
  const texts = pieces.length === 0 ? [[]] : pieces;
  return texts.map((piece, index) => {
    const isLast = index === texts.length - 1;
    const note = isLast ? noteOf(standing, piece.length === 0) : undefined;
    const blocks: KnownBlock[] = [...piece];
    if (note !== undefined) blocks.push(mrkdwn(note));
    if (isLast && isOpen) blocks.push(stopBlock(streamRequestId));
    const words = escaped(clipped(wordsOf(piece).trim(), NOTIFICATION_MAX));
    return { text: words || note || '…', blocks };
  });
}

function noteOf({ status, ending }: Standing, isEmpty: boolean): string | undefined {
  if (ending !== undefined) return ending;
  if (!isEmpty) return undefined;
  if (status === 'waiting') return '_Waiting for an answer._';
  return status === 'ended' ? '_Done._' : '_Working…_';
}

function stopBlock(streamRequestId: string): KnownBlock {
  return {
    type: 'actions',
    elements: [{ type: 'button', action_id: ACTION.stop, text: plain('Stop'), value: streamRequestId }],
  };
}

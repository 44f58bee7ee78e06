import type { KnownBlock } from '@slack/types';
import type { FollowedEvent } from '../../../turns/follow.ts';
import { BLOCK_GAP } from '../../../turns/text.ts';
import { plain } from './fields.ts';
import { ACTION } from './names.ts';
import type { SlackMessage } from './question.ts';
import { clipped, modelText, piecesOf } from './text.ts';

/** How a turn stands. `superseded`: what was read is void, and the turn must be read again. */
export type ReplyStatus = 'working' | 'waiting' | 'ended' | 'superseded';

/** The reply of a turn, as the messages of its thread. */
export interface ThreadReply {
  take(followed: FollowedEvent): void;
  readonly status: ReplyStatus;
  /** The messages, in order: at least one. A new one begins after a question or an approval, and where one is full. */
  messages(streamRequestId: string): SlackMessage[];
}

const NOTIFICATION_MAX = 300;

/** Collects a turn for its thread. Pure but for what it has taken. */
export function createReply(): ThreadReply {
  /** Texts between questions and approvals; each holds blocks by their ids. */
  let texts: Map<string, string>[] = [new Map()];
  let status: ReplyStatus = 'working';
  let ending: string | undefined;

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
        ending = `:warning: ${modelText(event.message)}`;
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
      const written = texts.map((text) => [...text.values()].join(BLOCK_GAP).trim());
      const pieces = written.filter((text) => text !== '').flatMap((text) => piecesOf(text, 2_900));
      return messagesOf(pieces.map(modelText), { status, ending, streamRequestId });
    },
  };
}

/** True for a question or an approval, which has a message of its own at this place. */
function isRequest(followed: FollowedEvent): boolean {
  if (followed.type === 'question')
    return followed.change === 'elicitation-request' && !followed.isSuperseded;
  return followed.type === 'approval' && followed.change === 'approval-request' && !followed.isSuperseded;
}

/** What stands in place of a message whose text was written again, in fewer messages. */
export function replacedMessage(): SlackMessage {
  const text = '_This part was written again above._';
  return { text, blocks: [section(text)] };
}

interface Standing {
  readonly status: ReplyStatus;
  readonly ending: string | undefined;
  readonly streamRequestId: string;
}

function messagesOf(pieces: readonly string[], standing: Standing): SlackMessage[] {
  const { streamRequestId } = standing;
  const isOpen = standing.status === 'working' || standing.status === 'waiting';
  const texts = pieces.length === 0 ? [''] : pieces;
  return texts.map((piece, index) => {
    const isLast = index === texts.length - 1;
    const note = isLast ? noteOf(standing, piece === '') : undefined;
    const blocks: KnownBlock[] = [];
    if (piece !== '') blocks.push(section(piece));
    if (note !== undefined) blocks.push(section(note));
    if (isLast && isOpen) blocks.push(stopBlock(streamRequestId));
    return { text: clipped(piece === '' ? (note ?? '…') : piece, NOTIFICATION_MAX), blocks };
  });
}

function noteOf({ status, ending }: Standing, isEmpty: boolean): string | undefined {
  if (ending !== undefined) return ending;
  if (!isEmpty) return undefined;
  if (status === 'waiting') return '_Waiting for an answer._';
  return status === 'ended' ? '_Done._' : '_Working…_';
}

function section(text: string): KnownBlock {
  return { type: 'section', text: { type: 'mrkdwn', text: clipped(text, 3_000), verbatim: true } };
}

function stopBlock(streamRequestId: string): KnownBlock {
  return {
    type: 'actions',
    elements: [{ type: 'button', action_id: ACTION.stop, text: plain('Stop'), value: streamRequestId }],
  };
}

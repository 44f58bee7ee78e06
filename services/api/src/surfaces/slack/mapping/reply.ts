import type { KnownBlock } from '@slack/types';
import type { FollowedEvent } from '../../../turns/follow.ts';
import { BLOCK_GAP } from '../../../turns/text.ts';
import { plain } from './fields.ts';
import { ACTION } from './names.ts';
import type { SlackMessage } from './question.ts';
import { clipped, escaped, modelText, piecesOf } from './text.ts';

/** How a turn stands. `superseded`: what was read is void, and the turn must be read again. */
export type ReplyStatus = 'working' | 'waiting' | 'ended' | 'superseded';

/** The reply of a turn, as the messages of its thread. */
export interface ThreadReply {
  take(followed: FollowedEvent): void;
  readonly status: ReplyStatus;
  /** The messages, in order: at least one. A new one begins after a question and where one is full. */
  messages(streamRequestId: string): SlackMessage[];
}

const NOTIFICATION_MAX = 300;

/** Collects a turn for its thread. Pure but for what it has taken. */
export function createReply(): ThreadReply {
  /** Texts between questions; each holds blocks by their ids. */
  let texts: Map<string, string>[] = [new Map()];
  let status: ReplyStatus = 'working';
  let ending: string | undefined;
  /** Tools by the approvals that are open. */
  const approvals = new Map<string, string>();

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

  function approval(followed: FollowedEvent & { readonly type: 'approval' }): void {
    const { approvalId, tool } = followed.approval;
    if (followed.change === 'approval-request' && !followed.isOver && !followed.isSuperseded)
      approvals.set(approvalId, tool.title ?? tool.name);
    else approvals.delete(approvalId);
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
      if (followed.type === 'question' && followed.change === 'elicitation-request' && !followed.isSuperseded)
        if ((texts.at(-1)?.size ?? 0) > 0) texts = [...texts, new Map()];
      if (followed.type === 'approval') approval(followed);
      if (status === 'working' && followed.isWaiting) status = 'waiting';
    },
    messages(streamRequestId) {
      const written = texts.map((text) => [...text.values()].join(BLOCK_GAP).trim());
      const pieces = written.filter((text) => text !== '').flatMap((text) => piecesOf(text, 2_900));
      const asked = [...new Set(approvals.values())];
      return messagesOf(pieces.map(modelText), { status, ending, asked, streamRequestId });
    },
  };
}

/** What stands in place of a message whose text was written again, in fewer messages. */
export function replacedMessage(): SlackMessage {
  const text = '_This part was written again above._';
  return { text, blocks: [section(text)] };
}

interface Standing {
  readonly status: ReplyStatus;
  readonly ending: string | undefined;
  /** Tools whose calls wait for an approval. */
  readonly asked: readonly string[];
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

function noteOf({ status, ending, asked }: Standing, isEmpty: boolean): string | undefined {
  if (ending !== undefined) return ending;
  if (asked.length > 0 && status !== 'ended') return approvalNote(asked);
  if (!isEmpty) return undefined;
  if (status === 'waiting') return '_Waiting for an answer._';
  return status === 'ended' ? '_Done._' : '_Working…_';
}

/** That the turn waits for a decision that is not made in Slack. */
function approvalNote(tools: readonly string[]): string {
  const named = tools.map((tool) => `*${escaped(clipped(tool, 75))}*`).join(', ');
  return `:hourglass_flowing_sand: Waiting for an approval of ${clipped(named, 2_000)}. The person who asked decides in the chat or the inbox, not in Slack.`;
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

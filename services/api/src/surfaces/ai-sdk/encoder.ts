/** Encodes a turn for one AI SDK reader: what is sent, repeated and cut. The chunks themselves are in `chunks.ts`. */

import { formatReaderPosition, type ReaderPosition } from '@parley/core/domain/events';
import { endsTurn } from '@parley/shared/domain/runs/turn-events';
import type { UIMessageChunk } from 'ai';
import { DONE, type Frame, framesOf, STREAM_CLOSED } from '../../http/sse.ts';
import { createApprovalWait } from '../../turns/approvals/wait.ts';
import { type Encoded, type Encoder, silent } from '../../turns/encoder.ts';
import type { FollowedEvent } from '../../turns/follow.ts';
import { jsonLine } from '../../turns/plain.ts';
import { createAiSdkChunks } from './chunks.ts';

/** Headers of the reply. The first names the protocol; clients of the previous protocol expect the second. */
export const AI_SDK_HEADERS = {
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-vercel-ai-data-stream': 'v2',
} as const;

type Placed = Exclude<FollowedEvent, { type: 'stale' | 'lost' }>;

/** Tells the reader why its stream breaks off: its token has expired, and it must return with a new one. */
export const AI_SDK_ON_EXPIRY: readonly Frame[] = [
  { text: jsonLine({ type: 'data-stream-closed', data: { v: 1, ...STREAM_CLOSED }, transient: true }) },
];

const RESET = { type: 'data-stream-reset', data: { v: 1 }, transient: true };

/**
 * Encodes a turn as AI SDK UI message stream, version 1 (`ai` 6, readable by 5 and 7). `after` is the last position that the
 * reader has; nothing up to it is sent again.
 *
 * If a step is restarted whose events this reader already has, its connection must be cut: the protocol cannot take text back,
 * and a standard client starts anew when it reconnects. A replay omits superseded events, so it is not cut for them again. A
 * stale reader first gets the transient part `data-stream-reset` and then the turn from its start, and must discard what it
 * has.
 *
 * While a turn waits only for approvals, its stream ends, because a standard client sends them in its next request, and only
 * after the stream has ended.
 */
export function createAiSdkEncoder(after?: ReaderPosition): Encoder<Frame> {
  let chunks = createAiSdkChunks();
  let wait = createApprovalWait();
  let lastId = after && formatReaderPosition(after);
  let isStale = false;
  let sent = false;
  let over: 'end' | 'cut' | undefined;

  /** A reader that returns to a turn which still waits gets its end again, whatever it has. */
  function waitingLines(isKnown: boolean): string[] {
    const end = chunks.turn({ type: 'turn-detached' });
    return (isKnown ? end.slice(-1) : end).map(jsonLine);
  }

  /** The end of a stream whose turn waits only for approvals. A continuing reader already has that end. */
  function approvalLines(isKnown: boolean): string[] {
    if (!wait.isAll()) return [];
    const end = chunks.untilApproved();
    if (isKnown) return [];
    over = 'end';
    return end.map(jsonLine);
  }

  /** The lines after an event at which the stream ends. */
  function endLines({ isKnown, isWaiting }: Placed, ends: boolean): string[] {
    const lines = isWaiting ? waitingLines(isKnown) : [];
    if (!ends && !isWaiting) lines.push(...approvalLines(isKnown));
    if (ends || isWaiting) over = 'end';
    return isWaiting || (over === 'end' && !isKnown) ? [...lines, DONE] : lines;
  }

  function send(event: Placed, found: readonly UIMessageChunk[], ends = false): Encoded<Frame> {
    const lines = event.isKnown ? [] : found.map(jsonLine);
    if (isStale) lines.unshift(jsonLine(RESET));
    isStale = false;
    lines.push(...endLines(event, ends));
    // With the id of a superseded event, a returning reader would seem to have superseded text. Its question is therefore sent
    // under the previous id.
    const id = 'isSuperseded' in event && event.isSuperseded ? lastId : event.id;
    const frames = framesOf(lines, id, lastId);
    if (frames.length > 0) {
      sent = true;
      lastId = id;
    }
    return { frames, next: over ?? 'more' };
  }

  function encodeTurnEvent(followed: Extract<FollowedEvent, { type: 'turn' }>): Encoded<Frame> {
    const { event } = followed;
    if (event.type === 'step-restarted' && chunks.hasShown(event.step)) {
      over = 'cut';
      return silent(over);
    }
    wait.turn(event);
    return send(followed, chunks.turn(event), endsTurn(event) || event.type === 'turn-detached');
  }

  return {
    encode(event) {
      if (over !== undefined) return silent(over);
      switch (event.type) {
        case 'turn':
          return encodeTurnEvent(event);
        case 'question':
          return send(event, chunks.elicitation(event.elicitation));
        case 'approval':
          wait.approval(
            event.approval.approvalId,
            event.approval.toolCallId,
            event.approval.status === 'pending' && !event.isOver,
          );
          return send(event, chunks.approval(event.approval));
        case 'detachment-passed':
          chunks.passDetached();
          return send(event, []);
        case 'unknown':
          return send(event, []);
        case 'stale':
          isStale = true;
          lastId = undefined;
          return silent('more');
        case 'lost':
          if (sent || after !== undefined) over = 'cut';
          else {
            chunks = createAiSdkChunks();
            wait = createApprovalWait();
          }
          return silent(over ?? 'more');
      }
    },
  };
}

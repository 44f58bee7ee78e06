import { type FeedPosition, formatFeedPosition, parseFeedPosition } from '@parley/shared/domain/events';
import { endsTurn, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { StreamItem } from '@parley/shared/elicitations/watch';
import type { UIMessageChunk } from 'ai';
import type { Detachment } from '../../turns/detachment.ts';
import { DONE, type Encoded, type Encoder, framesOf, silent } from '../../turns/encoder.ts';
import { jsonLine } from '../../turns/plain.ts';
import type { Superseded } from '../../turns/superseded.ts';
import { createAiSdkChunks } from './chunks.ts';

/** Headers of the reply: the first names the protocol, the second is what chats of the former one look for. */
export const AI_SDK_HEADERS = {
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-vercel-ai-data-stream': 'v2',
} as const;

export interface AiSdkOptions {
  /** The last event its reader has, from `Last-Event-ID`; nothing up to there is sent again. */
  readonly after?: FeedPosition;
  /** What to leave out of a replay; nothing for the reader that began the turn. */
  readonly superseded?: Superseded;
  /** For a reader that comes back; the one that began the turn ends wherever it is detached. */
  readonly detachment?: Detachment;
}

type Item = Exclude<StreamItem, { type: 'reset' }>;

/**
 * Encodes a turn as AI SDK UI message stream, version 1 (`ai` 6, and readable by 5 and 7).
 *
 * When a step is restarted whose events this reader already has, its connection must be cut: the protocol cannot take
 * text back, and a stock client starts over when it comes back. A replay knows its restarts beforehand
 * (`superseded`), so it leaves the void events out and is not cut for them again. A reader that comes back by event id
 * out of void events, or out of a feed that was lost, first gets the transient part `data-stream-reset` and then the
 * turn from its start: it must forget what it has.
 */
export function createAiSdkEncoder(options: AiSdkOptions = {}): Encoder {
  const { superseded, detachment } = options;
  let chunks = createAiSdkChunks();
  let after = options.after;
  let lastId = after && formatFeedPosition(after);
  let sent = false;
  let over: 'end' | 'cut' | undefined;

  function isVoid(position: FeedPosition | undefined): boolean {
    return position !== undefined && superseded?.covers(position) === true;
  }

  /** True when the reader holds what is no longer so. It is asked once per item until the reader is past its own. */
  function isStale(position: FeedPosition | undefined): boolean {
    if (after === undefined || position === undefined) return false;
    return position.epoch !== after.epoch || isVoid(after);
  }

  /** Up to where the reader came to, a detachment is no end; there it is, while the turn waits. */
  function isPassed(position: FeedPosition | undefined): boolean {
    const until = detachment?.until;
    return position !== undefined && position.epoch === until?.epoch && position.seq <= until.seq;
  }

  function endsAsWaiting(position: FeedPosition | undefined): boolean {
    return detachment?.isWaiting === true && isPassed(position) && position?.seq === detachment.until.seq;
  }

  /** Whoever comes back to a turn that still waits is told so again, whatever they have. */
  function waitingLines(has: boolean): string[] {
    const end = chunks.turn({ type: 'turn-detached' });
    return (has ? end.slice(-1) : end).map(jsonLine);
  }

  /** True for a reader that must forget what it has; from then on it has nothing. */
  function forgets(position: FeedPosition | undefined): boolean {
    const stale = isStale(position);
    if (stale) {
      after = undefined;
      lastId = undefined;
    }
    return stale;
  }

  function told(item: Item, found: readonly UIMessageChunk[], ends: boolean): Encoded {
    const position = parseFeedPosition(item.id);
    const waits = endsAsWaiting(position);
    const stale = forgets(position);
    const has = after !== undefined && position !== undefined && position.seq <= after.seq;
    const lines = has ? [] : found.map(jsonLine);
    if (stale) lines.unshift(jsonLine({ type: 'data-stream-reset', data: { v: 1 }, transient: true }));
    if (waits) lines.push(...waitingLines(has));
    if (ends || waits) over = 'end';
    if (waits || (ends && !has)) lines.push(DONE);
    // The id of a void event is proof that its reader has void text: a question among them goes under the id before.
    const id = isVoid(position) ? lastId : item.id;
    const frames = framesOf(lines, id, lastId);
    if (frames.length > 0) {
      sent = true;
      lastId = id;
    }
    return { frames, next: over ?? 'more' };
  }

  function other(item: Extract<Item, { type: 'other' }>): Encoded {
    const event = turnEventOf(item.event);
    const position = parseFeedPosition(item.id);
    if (event === undefined || isVoid(position)) return told(item, [], false);
    if (event.type === 'step-restarted' && chunks.hasShown(event.step)) {
      over = 'cut';
      return silent(over);
    }
    if (event.type !== 'turn-detached') return told(item, chunks.turn(event), endsTurn(event));
    if (!isPassed(position)) return told(item, chunks.turn(event), true);
    chunks.passDetached();
    return told(item, [], false);
  }

  return {
    encode(item) {
      if (over !== undefined) return silent(over);
      if (item.type === 'other') return other(item);
      if (item.type === 'elicitation') return told(item, chunks.elicitation(item.elicitation), false);
      if (sent) over = 'cut';
      else chunks = createAiSdkChunks();
      return silent(over ?? 'more');
    },
  };
}

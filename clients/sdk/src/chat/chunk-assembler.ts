/** Turns the events of several broken connections into one valid stream of chunks. Opening connections is in `turn.ts`. */

import { ParleyClientError, type SseEvent } from '@parley/core';
import type { UIMessageChunk } from 'ai';
import { ChatStreamError } from './errors.ts';

/** An item of a turn's stream. After `reset`, the message starts again: discard everything before it. */
export type TurnItem =
  | { readonly type: 'chunk'; readonly chunk: UIMessageChunk }
  | { readonly type: 'reset' };

/** Assembles the chunks of one turn from any number of connections. */
export interface ChunkAssembler {
  /** The last complete event; the next connection starts after it. */
  readonly lastEventId: string | undefined;
  /** Whether any item has been returned. */
  readonly hasBegun: boolean;
  /** Whether the end of the turn has been returned. */
  readonly isOver: boolean;
  /** Whether calls were open at that end: the turn is waiting for approvals, or has used up its steps. */
  readonly leavesCalls: boolean;
  /**
   * Adds the next event and returns the items that are now complete. Throws ChatStreamError, or `internal` for invalid data.
   */
  add(event: Pick<SseEvent, 'id' | 'data'>): readonly TurnItem[];
  /** Call when the connection has ended. Returns the buffered items if they finish the turn, and otherwise discards them. */
  disconnect(): readonly TurnItem[];
  /** Makes the next connection start at the beginning of the turn. False if the last one did so too. */
  startOver(): boolean;
}

const DONE = '[DONE]';
const RESET = 'data-stream-reset';
/** The token has expired. The connection ends next, and the following request sends a new token. */
const CLOSED = 'data-stream-closed';
const BEGINNING = '-0';

/**
 * Makes one valid stream of chunks from connections that may break anywhere. An event of the feed may be several chunks, of
 * which only the last carries the event's id. Chunks are buffered until that one has come, so that no part of an event is
 * passed on twice. `after` is the event after which the first connection starts.
 */
export function createChunkAssembler(after?: string): ChunkAssembler {
  let lastEventId = after;
  let buffer: UIMessageChunk[] = [];
  let messageId: string | undefined;
  let hasStart = false;
  let hasContent = false;
  let isOver = false;
  let leavesCalls = false;

  function start(chunk: Extract<UIMessageChunk, { type: 'start' }>): TurnItem[] {
    const isRepeated = hasStart;
    const hadContent = hasContent;
    // A later turn is running, so the end of this one was missed.
    if (isRepeated && chunk.messageId !== messageId) throw new ChatStreamError('ended-unseen');
    hasStart = true;
    hasContent = false;
    messageId = chunk.messageId;
    if (!isRepeated) return [{ type: 'chunk', chunk }];
    return hadContent ? [{ type: 'reset' }, { type: 'chunk', chunk }] : [];
  }

  function emit(chunk: UIMessageChunk): TurnItem[] {
    if (chunk.type === 'start') return start(chunk);
    hasContent = true;
    if (chunk.type === 'finish') {
      isOver = true;
      leavesCalls = chunk.finishReason === 'tool-calls';
    }
    return [{ type: 'chunk', chunk }];
  }

  function flush(): TurnItem[] {
    return buffer.splice(0).flatMap(emit);
  }

  return {
    get lastEventId() {
      return lastEventId;
    },
    get hasBegun() {
      return hasStart || hasContent;
    },
    get isOver() {
      return isOver;
    },
    get leavesCalls() {
      return leavesCalls;
    },
    add({ id, data }) {
      if (data === DONE) {
        lastEventId = id ?? lastEventId;
        const items = flush();
        isOver = true;
        return items;
      }
      const chunk = parseChunk(data);
      if (chunk.type === CLOSED) return [];
      if (chunk.type === RESET) {
        buffer = [];
        lastEventId = id;
        return [];
      }
      if (isBefore(id, lastEventId)) return [];
      const isComplete = id !== undefined && id !== lastEventId;
      // The question of a superseded step has no id. A data part may be repeated, so it need not be buffered.
      if (!isComplete && buffer.length === 0 && hasStart && isReplaceable(chunk)) return emit(chunk);
      buffer.push(chunk);
      if (!isComplete) return [];
      lastEventId = id;
      return flush();
    },
    disconnect() {
      if (buffer.some(({ type }) => type === 'finish')) return flush();
      buffer = [];
      return [];
    },
    startOver() {
      // The position before the first event still identifies the turn, which may have ended since.
      const beginning = lastEventId?.replace(/-.*$/, BEGINNING);
      const isAhead = beginning !== lastEventId;
      lastEventId = beginning;
      return isAhead;
    },
  };
}

function parseChunk(data: string): UIMessageChunk {
  try {
    const chunk: unknown = JSON.parse(data);
    if (typeof chunk === 'object' && chunk !== null && 'type' in chunk) return chunk as UIMessageChunk;
  } catch {}
  throw new ParleyClientError('internal', 'An event of the stream is not a chunk of a reply; check baseUrl.');
}

function isReplaceable(chunk: UIMessageChunk): boolean {
  return chunk.type.startsWith('data-') && 'id' in chunk && chunk.id !== undefined;
}

/** Whether an event comes before the last complete one. Ids of different feeds cannot be compared. */
function isBefore(id = '', lastEventId = ''): boolean {
  const [epoch, position] = id.split('-');
  const [lastEpoch, lastPosition] = lastEventId.split('-');
  return epoch === lastEpoch && Number(position) < Number(lastPosition);
}

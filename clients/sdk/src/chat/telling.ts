import type { UIMessageChunk } from 'ai';
import type { SseEvent } from '../connection.ts';
import { ParleyClientError } from '../errors.ts';
import { ChatStreamError } from './errors.ts';

/** Something to hand on. After `reset` the message begins again: what was handed on before is void. */
export type TurnItem =
  | { readonly type: 'chunk'; readonly chunk: UIMessageChunk }
  | { readonly type: 'reset' };

/** What has been told of one turn, over as many connections as it takes. */
export interface Telling {
  /** The last event that was handed on whole: the next connection begins after it. */
  readonly lastEventId: string | undefined;
  /** Whether anything was handed on. */
  readonly isBegun: boolean;
  /** Whether the turn was told to its end. */
  readonly isOver: boolean;
  /** Takes the next event; gives what can be handed on. Throws ChatStreamError, and `internal` for what is no chunk. */
  take(event: Pick<SseEvent, 'id' | 'data'>): readonly TurnItem[];
  /** The connection is gone; gives what can be handed on all the same. */
  disconnected(): readonly TurnItem[];
}

const DONE = '[DONE]';
const RESET = 'data-stream-reset';

/**
 * Makes a valid stream of chunks out of connections that were cut anywhere. An event of the feed may be several chunks,
 * and only its last one carries its id: chunks are held until then, so that an event that comes again was never begun.
 */
export function createTelling(): Telling {
  let lastEventId: string | undefined;
  let held: UIMessageChunk[] = [];
  let messageId: string | undefined;
  let hasStart = false;
  let isShown = false;
  let isOver = false;

  function begin(chunk: Extract<UIMessageChunk, { type: 'start' }>): TurnItem[] {
    const isAgain = hasStart;
    const wasShown = isShown;
    // Another turn runs by now, so the end of this one was missed.
    if (isAgain && chunk.messageId !== messageId) throw new ChatStreamError('ended-unseen');
    hasStart = true;
    isShown = false;
    messageId = chunk.messageId;
    if (!isAgain) return [{ type: 'chunk', chunk }];
    return wasShown ? [{ type: 'reset' }, { type: 'chunk', chunk }] : [];
  }

  function tell(chunk: UIMessageChunk): TurnItem[] {
    if (chunk.type === 'start') return begin(chunk);
    isShown = true;
    if (chunk.type === 'finish') isOver = true;
    return [{ type: 'chunk', chunk }];
  }

  function release(): TurnItem[] {
    return held.splice(0).flatMap(tell);
  }

  return {
    get lastEventId() {
      return lastEventId;
    },
    get isBegun() {
      return hasStart || isShown;
    },
    get isOver() {
      return isOver;
    },
    take({ id, data }) {
      if (data === DONE) {
        const rest = release();
        isOver = true;
        return rest;
      }
      const chunk = chunkIn(data);
      if (chunk.type === RESET) {
        held = [];
        lastEventId = id;
        return [];
      }
      if (isKnown(id, lastEventId)) return [];
      const isWhole = id !== undefined && id !== lastEventId;
      // Told twice it is the same, so it need not wait: the question of a void step carries no id of its own.
      if (!isWhole && held.length === 0 && hasStart && isReplaceable(chunk)) return tell(chunk);
      held.push(chunk);
      if (!isWhole) return [];
      lastEventId = id;
      return release();
    },
    disconnected() {
      if (held.some(({ type }) => type === 'finish')) return release();
      held = [];
      return [];
    },
  };
}

function chunkIn(data: string): UIMessageChunk {
  try {
    const chunk: unknown = JSON.parse(data);
    if (typeof chunk === 'object' && chunk !== null && 'type' in chunk) return chunk as UIMessageChunk;
  } catch {}
  throw new ParleyClientError('internal', 'The stream holds what is no chunk of a reply; check baseUrl.');
}

function isReplaceable(chunk: UIMessageChunk): boolean {
  return chunk.type.startsWith('data-') && 'id' in chunk && chunk.id !== undefined;
}

/** Whether an event lies before the last one that was handed on. Ids of other feeds tell nothing. */
function isKnown(id = '', lastEventId = ''): boolean {
  const [feed, at] = id.split('-');
  const [lastFeed, lastAt] = lastEventId.split('-');
  return feed === lastFeed && Number(at) < Number(lastAt);
}

import type { UIMessageChunk } from 'ai';
import { ChatStreamError } from './chat-errors.ts';
import type { Told } from './chat-telling.ts';

/** A turn on its way to one reader after the other. */
export interface Turn {
  readonly told: AsyncIterator<Told, void>;
  /** Ends its reading; the turn itself goes on. */
  end(): void;
}

/**
 * What becomes of a turn whose telling begins anew: nothing more goes into its first stream. Resolves once somebody else
 * reads it, or nobody will.
 */
export type OnReset = (turn: Turn, messageId: string | undefined) => Promise<void>;

/** A turn as the stream of chunks that a chat reads. Cancelling it, or aborting `signal`, ends the reading only. */
export function streamOf(
  turn: Turn,
  signal: AbortSignal | undefined,
  onReset: OnReset,
): ReadableStream<UIMessageChunk> {
  let isOurs = true;
  let isEnded = false;
  let onAbort: () => void = () => undefined;

  function leave(): void {
    isEnded = true;
    signal?.removeEventListener('abort', onAbort);
    if (isOurs) turn.end();
  }

  return new ReadableStream<UIMessageChunk>({
    start(controller) {
      onAbort = () => {
        leave();
        controller.error(signal?.reason);
      };
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort);
    },
    async pull(controller) {
      try {
        const { value, done } = await turn.told.next();
        if (isEnded) return;
        if (done === true) {
          leave();
          controller.close();
        } else if (value.type === 'chunk') {
          controller.enqueue(value.chunk);
        } else {
          isOurs = false;
          await onReset(turn, value.messageId);
          if (!isEnded) throw new ChatStreamError('stream-reset');
        }
      } catch (error) {
        if (isEnded) return;
        leave();
        controller.error(error);
      }
    },
    cancel: leave,
  });
}

import type { UIMessageChunk } from 'ai';
import { ChatStreamError } from './errors.ts';
import type { Turn } from './turn.ts';

/** What a reader does at the two ends of its part. */
export interface ReaderHooks {
  /** The turn begins anew: nothing more of it goes here. Resolves once somebody else reads it, or nobody will. */
  readonly onReset: () => Promise<void>;
  /** Its stream has ended, in whatever way. */
  readonly onEnd: () => void;
}

/** Reads a turn into the stream of chunks that a chat wants. */
export interface TurnReader {
  readonly stream: ReadableStream<UIMessageChunk>;
  /** Ends the stream with an error. Does nothing once it has ended. */
  cut(reason: unknown): void;
}

export function createTurnReader({ items }: Turn, { onReset, onEnd }: ReaderHooks): TurnReader {
  let isEnded = false;
  let fail: (reason: unknown) => void = () => undefined;

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    onEnd();
  }

  function cut(reason: unknown): void {
    if (isEnded) return;
    end();
    fail(reason);
  }

  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      fail = (reason) => controller.error(reason);
    },
    async pull(controller) {
      try {
        const { value, done } = await items.next();
        if (isEnded) return;
        if (done === true) {
          end();
          controller.close();
        } else if (value.type === 'chunk') {
          controller.enqueue(value.chunk);
        } else {
          await onReset();
          cut(new ChatStreamError('stream-reset'));
        }
      } catch (error) {
        cut(error);
      }
    },
    cancel: end,
  });
  return { stream, cut };
}

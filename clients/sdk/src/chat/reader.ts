import type { UIMessageChunk } from 'ai';
import { ChatStreamError } from './errors.ts';
import type { TurnStream } from './turn.ts';

interface ReaderHooks {
  /**
   * Called when the turn starts again; this reader gets no more of it. Resolves when another reader has taken over, or none
   * will.
   */
  readonly onReset: () => Promise<void>;
  /** Called when the reader's stream has ended, for any reason. */
  readonly onEnd: () => void;
}

/** Reads a turn into the stream of chunks that a chat expects. */
export interface ChatTurnReader {
  readonly stream: ReadableStream<UIMessageChunk>;
  /** Ends the stream with an error. Does nothing after its end. */
  fail(reason: unknown): void;
}

export function createTurnReader({ items }: TurnStream, { onReset, onEnd }: ReaderHooks): ChatTurnReader {
  let isEnded = false;
  let setError: (reason: unknown) => void = () => undefined;

  function end(): void {
    if (isEnded) return;
    isEnded = true;
    onEnd();
  }

  function fail(reason: unknown): void {
    if (isEnded) return;
    end();
    setError(reason);
  }

  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      setError = (reason) => controller.error(reason);
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
          fail(new ChatStreamError('stream-reset'));
        }
      } catch (error) {
        fail(error);
      }
    },
    cancel: end,
  });
  return { stream, fail };
}

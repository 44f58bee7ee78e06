import type { UIMessage } from 'ai';

/** The part of a chat that `attach` uses. A `Chat` of the AI SDK and the result of `useChat` have it. */
export interface AttachableChat {
  readonly id: string;
  /** Stops reading the turn. */
  stop(): Promise<void>;
  /** Reads the turn from its start, and replaces what is displayed of it. */
  resumeStream(): Promise<void>;
}

/** The part of a chat that `isTurnWaiting` uses. A `Chat` of the AI SDK and the result of `useChat` have it. */
export interface ShownChat {
  readonly status: string;
  readonly messages: readonly Pick<UIMessage, 'metadata'>[];
}

/**
 * Makes a chat read its turn again. The current reading ends as aborted, because only that end neither shows an error nor
 * triggers another request.
 */
export async function restartReading(chat: AttachableChat): Promise<void> {
  await chat.stop();
  await chat.resumeStream();
}

/**
 * Whether a chat shows a detached turn that is waiting for a person. Call `resumeStream()` after the question has
 * ended. False while the chat is still reading.
 *
 * @example
 * card.addEventListener('elicitation-settled', () => {
 *   if (isTurnWaiting(chat)) void chat.resumeStream();
 * });
 */
export function isTurnWaiting({ status, messages }: ShownChat): boolean {
  const metadata = messages.at(-1)?.metadata as
    | { readonly parley?: { readonly state?: unknown } }
    | null
    | undefined;
  return status === 'ready' && metadata?.parley?.state === 'waiting';
}

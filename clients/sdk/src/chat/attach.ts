import type { UIMessage } from 'ai';

/** What `attach` needs of a chat: a `Chat` of the AI SDK and what `useChat` returns have it. */
export interface AttachableChat {
  readonly id: string;
  /** Ends the reading of a turn. */
  stop(): Promise<void>;
  /** Reads the turn from its start; it takes the place of what is shown of it. */
  resumeStream(): Promise<void>;
}

/** What tells whether a turn waits: a `Chat` of the AI SDK and what `useChat` returns have it. */
export interface ShownChat {
  readonly status: string;
  readonly messages: readonly Pick<UIMessage, 'metadata'>[];
}

/**
 * Has a chat read its turn again. Its reading ends as aborted, for that is the one end that neither shows an error nor
 * sends anything by itself.
 */
export async function readAgain(chat: AttachableChat): Promise<void> {
  await chat.stop();
  await chat.resumeStream();
}

/**
 * Whether a chat shows a turn that was detached while it waits for a person, and reads nothing: once the question has
 * ended, `resumeStream()` reads on. A chat that still reads needs no resuming.
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

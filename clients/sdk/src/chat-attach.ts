import type { UIMessage } from 'ai';

/** What `attach` needs of a chat: a `Chat` of the AI SDK and what `useChat` returns have it. */
export type AttachableChat<Message extends UIMessage = UIMessage> = {
  readonly id: string;
  /** Ends the reading of a turn. */
  stop(): Promise<void>;
  resumeStream(): Promise<void>;
} & (
  | { setMessages(update: (messages: Message[]) => Message[]): void }
  | { messages: Message[]; readonly setMessages?: never }
);

/**
 * Takes back what a chat shows of a turn and has it read the turn again. Its reading ends as aborted, for that is the
 * one end that neither shows an error nor sends anything by itself.
 */
export async function readAgain<Message extends UIMessage>(
  chat: AttachableChat<Message>,
  messageId: string | undefined,
): Promise<void> {
  await chat.stop();
  const without = (messages: Message[]) => messages.filter(({ id }) => id !== messageId);
  // Early releases of version 6 append to the message that is there; later ones replace it.
  if (chat.setMessages !== undefined) chat.setMessages(without);
  else chat.messages = without(chat.messages);
  await chat.resumeStream();
}

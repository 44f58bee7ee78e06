import { ParleyClientError } from '../errors.ts';
import { within } from '../retry.ts';

/** What goes out of the chats of one transport and has no answer yet: messages, and calls that stop their turns. */
export interface Outgoing {
  /**
   * Sends a message that begins a turn. A `stop` of its chat that is under way is meant for the turn before: its present
   * try is waited for, and is its last. The signal that `send` gets is aborted by the caller's, and by a later `stop`.
   * Rejects as `send` does, and with the reason of that signal.
   */
  send<T>(
    chatId: string,
    signal: AbortSignal | undefined,
    send: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /**
   * Takes back the messages of a chat that have no answer, then asks the server to stop its turn. `ask` says whether one
   * may have been stopped; once its signal is aborted it tries no more. False when neither found anything.
   */
  stop(
    chatId: string,
    signal: AbortSignal | undefined,
    ask: (tries: AbortSignal) => Promise<boolean>,
  ): Promise<boolean>;
}

interface ChatOutgoing {
  readonly messages: Set<AbortController>;
  /** Each with its end, which does not reject. */
  readonly stops: Map<AbortController, Promise<unknown>>;
}

export function createOutgoing(): Outgoing {
  const chats = new Map<string, ChatOutgoing>();

  function chatOf(chatId: string): ChatOutgoing {
    const chat = chats.get(chatId) ?? { messages: new Set(), stops: new Map() };
    chats.set(chatId, chat);
    return chat;
  }

  function forgetEmpty(chatId: string, { messages, stops }: ChatOutgoing): void {
    if (messages.size === 0 && stops.size === 0) chats.delete(chatId);
  }

  return {
    async send(chatId, signal, send) {
      const chat = chatOf(chatId);
      const message = new AbortController();
      const either = eitherOf(signal, message);
      chat.messages.add(message);
      try {
        for (const tries of chat.stops.keys()) tries.abort(overtaken());
        await within(Number.POSITIVE_INFINITY, either, () => Promise.all(chat.stops.values()));
        return await send(either);
      } finally {
        chat.messages.delete(message);
        forgetEmpty(chatId, chat);
      }
    },
    async stop(chatId, signal, ask) {
      const chat = chatOf(chatId);
      const isTakenBack = chat.messages.size > 0;
      for (const message of chat.messages) message.abort();
      const tries = new AbortController();
      const asking = ask(eitherOf(signal, tries));
      chat.stops.set(tries, Promise.allSettled([asking]));
      try {
        return (await asking) || isTakenBack;
      } finally {
        chat.stops.delete(tries);
        forgetEmpty(chatId, chat);
      }
    },
  };
}

function eitherOf(signal: AbortSignal | undefined, own: AbortController): AbortSignal {
  return signal === undefined ? own.signal : AbortSignal.any([signal, own.signal]);
}

function overtaken(): ParleyClientError {
  return new ParleyClientError(
    'unavailable',
    'The chat has sent its next message; nobody knows whether the turn before was stopped.',
  );
}

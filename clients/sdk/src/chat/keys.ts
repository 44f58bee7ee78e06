import { createRandomId } from '@parley/core';

/** The idempotency keys of messages. The last message of each chat keeps its key while its outcome is unknown. */
interface MessageKeys {
  /** The key of an equal message of this chat with an unknown outcome, or else a new key. */
  keyOf(chatId: string, body: object): string;
  /** Drops this key, or any key of the chat. The message then counts as new when it is sent again. */
  drop(chatId: string, key?: string): void;
}

export function createMessageKeys(): MessageKeys {
  const keys = new Map<string, { readonly key: string; readonly message: string }>();
  return {
    keyOf(chatId, body) {
      // The body contains the id that the chat gave to the message, so it identifies the message.
      const message = JSON.stringify(body);
      const last = keys.get(chatId);
      if (last?.message === message) return last.key;
      const key = createRandomId();
      keys.set(chatId, { key, message });
      return key;
    },
    drop(chatId, key) {
      if (key === undefined || keys.get(chatId)?.key === key) keys.delete(chatId);
    },
  };
}

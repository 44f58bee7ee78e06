import { createRandomId } from '@parley/core';

/** Idempotency keys of messages. The last message of each chat keeps its key while its outcome is unknown. */
interface MessageKeys {
  /** The key of an equal message of this chat whose outcome is unknown, else a new key. */
  keyOf(chatId: string, body: object): string;
  /** Drops this key, or any key of the chat: sent again, the message is a new one. */
  drop(chatId: string, key?: string): void;
}

export function createMessageKeys(): MessageKeys {
  const keys = new Map<string, { readonly key: string; readonly message: string }>();
  return {
    keyOf(chatId, body) {
      // The body contains the id that the chat gave to the message.
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

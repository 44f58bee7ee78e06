import { mintToken } from '../mint.ts';

/** Idempotency keys of messages. Of each chat the last message has one for as long as its outcome is not known. */
export interface MessageKeys {
  /** The key that an equal message of this chat went out with if its outcome is not known, else a new one. */
  keyOf(chatId: string, body: object): string;
  /** The outcome of the message with this key is known, or that of any: sent again, it is a new one. */
  forget(chatId: string, key?: string): void;
}

export function createMessageKeys(): MessageKeys {
  const open = new Map<string, { readonly key: string; readonly said: string }>();
  return {
    keyOf(chatId, body) {
      // It holds the id that the chat gave to the message.
      const said = JSON.stringify(body);
      const before = open.get(chatId);
      if (before?.said === said) return before.key;
      const key = mintToken();
      open.set(chatId, { key, said });
      return key;
    },
    forget(chatId, key) {
      if (key === undefined || open.get(chatId)?.key === key) open.delete(chatId);
    },
  };
}

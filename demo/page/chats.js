import { createConversation } from './conversation.js';

/**
 * The chats of this tab. The address names the displayed one. The others continue, and the browser's back button returns to
 * them.
 */
export function createChats({ api, person, onChange }) {
  const chats = new Map();
  const lastKey = `parley-demo/${person}`;
  let current;

  function open(chatId) {
    const chat = chats.get(chatId) ?? create(chatId);
    current = chat;
    sessionStorage.setItem(lastKey, chatId);
    onChange();
  }

  function create(chatId) {
    const chat = createConversation({
      api,
      chatId,
      storeKey: `${lastKey}/${chatId}`,
      onChange: () => chat === current && onChange(),
    });
    chats.set(chatId, chat);
    void chat.restore();
    return chat;
  }

  function openNamed() {
    const named = /^#(chat-[\w-]{1,64})$/.exec(location.hash)?.[1];
    const chatId = named ?? sessionStorage.getItem(lastKey) ?? newId();
    if (named === undefined) history.replaceState(null, '', `#${chatId}`);
    open(chatId);
  }

  addEventListener('hashchange', openNamed);
  addEventListener('pagehide', () => {
    for (const chat of chats.values()) chat.save();
  });

  return {
    get current() {
      return current;
    },
    open: openNamed,
    startNew() {
      location.hash = newId();
    },
    /** Removes a deleted chat. If it was displayed, a new chat replaces it. */
    remove(chatId) {
      chats.get(chatId)?.forget();
      chats.delete(chatId);
      sessionStorage.removeItem(`${lastKey}/${chatId}`);
      if (current?.chatId === chatId) location.hash = newId();
    },
    notePod(call) {
      for (const chat of chats.values()) chat.notePod(call);
    },
  };
}

function newId() {
  return `chat-${crypto.randomUUID()}`;
}

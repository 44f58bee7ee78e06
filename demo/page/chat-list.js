import { createChatLine } from './chat-line.js';
import { element } from './element.js';

/** Sets up the list of the person's chats. It unfolds in the header, and is read again each time. */
export function setUpChatList({ place, api, current, onRemoved }) {
  const list = place.querySelector('ul');

  async function show() {
    const found = await api.list().catch(() => undefined);
    const lines = found?.map((chat) => createChatLine({ chat, api, isCurrent, onRemoved: removed }));
    const notes = lines ?? [element('li', {}, 'Your chats could not be read.')];
    list.replaceChildren(...notes);
    noteNone();
  }

  function noteNone() {
    if (list.children.length === 0) list.append(element('li', {}, 'No chats yet.'));
  }

  const isCurrent = (chatId) => chatId === current();

  /** The focus moves to the line that follows the removed one. */
  function removed(chatId, line) {
    const next = line.nextElementSibling ?? line.previousElementSibling;
    line.remove();
    noteNone();
    (next?.querySelector('a') ?? place.querySelector('summary')).focus();
    onRemoved(chatId);
  }

  const fold = () => {
    place.open = false;
  };
  place.addEventListener('toggle', () => place.open && void show());
  place.addEventListener('keydown', ({ key, defaultPrevented }) => {
    if (key !== 'Escape' || defaultPrevented) return;
    fold();
    place.querySelector('summary').focus();
  });
  list.addEventListener('click', ({ target }) => target.closest('a') !== null && fold());
  document.addEventListener('pointerdown', ({ target }) => place.contains(target) || fold());
}

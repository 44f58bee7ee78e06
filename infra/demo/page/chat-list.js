import { element } from './element.js';

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });

/** Sets up the list of the person's chats: it unfolds in the header, and is read anew whenever it does. */
export function setUpChatList({ place, api, current }) {
  const list = place.querySelector('ul');

  function lineOf({ conversationId, title = 'Untitled', latestTurnAt, isRunning }) {
    const when = isRunning ? 'in progress' : TIME.format(new Date(latestTurnAt));
    const time = element('span', { className: 'fine' }, when);
    const link = element('a', { href: `#${conversationId}` }, element('bdi', {}, title), time);
    if (conversationId === current()) link.ariaCurrent = 'page';
    return element('li', {}, link);
  }

  async function show() {
    const chats = await api.list().catch(() => undefined);
    const lines = chats?.map(lineOf) ?? [element('li', {}, 'Your chats could not be read.')];
    list.replaceChildren(...(lines.length > 0 ? lines : [element('li', {}, 'No chats yet.')]));
  }

  const fold = () => {
    place.open = false;
  };
  place.addEventListener('toggle', () => place.open && void show());
  place.addEventListener('keydown', ({ key }) => key === 'Escape' && fold());
  list.addEventListener('click', fold);
  document.addEventListener('pointerdown', ({ target }) => place.contains(target) || fold());
}

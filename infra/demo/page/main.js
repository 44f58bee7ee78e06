import { createElicitationCards } from '/ai-sdk.js';
import { createElicitationServer } from '/elicitation-server.js';
import '/elicitation-inbox.js';
import { createAnnouncer } from './announce.js';
import { createApi } from './api.js';
import { createChats } from './chats.js';
import { createComposer } from './composer.js';
import { element } from './element.js';
import { followEnd } from './follow-end.js';
import { setUpInbox } from './inbox.js';
import { createView } from './view.js';

const at = (id) => document.getElementById(id);
const session = await (await fetch(`/session${location.search}`)).json();

const api = createApi({ token: session.token, onPod: (call) => chats.notePod(call) });
const server = createElicitationServer({ getToken: () => session.token, fetch: api.widgetFetch });
const showMessages = createView({
  place: at('history'),
  cards: createElicitationCards({ server }),
  onTryAgain: () => chats.current.tryAgain(),
});
const announce = createAnnouncer(at('status'));
const goToEnd = followEnd(at('scroller'), at('history'), () =>
  at('history').querySelector('article:last-child > .parts > :last-child'),
);
const chats = createChats({ api, person: session.person, onChange: show });
const composer = createComposer({ onSend: send, onStop: () => chats.current.stop() });

function show() {
  const { messages, isRunning } = chats.current;
  at('intro').hidden = messages.length > 0;
  composer.show(isRunning());
  showMessages(messages);
  announce(messages);
}

function send(text) {
  void chats.current.send(text);
  goToEnd();
}

setUpInbox(at('inbox'), server);
at('who').append(
  element('span', {}, `You are ${session.person}.`),
  ' ',
  element('a', { href: `/?person=${session.other}` }, `Be ${session.other}`),
);
at('model').textContent = session.model;
at('fresh').addEventListener('click', () => {
  chats.startNew();
  composer.focus();
});
// After an answer the focus returns to the text box.
at('history').addEventListener('elicitation-settled', async ({ target }) => {
  void chats.current.resume();
  await target.updateComplete;
  if (target.matches(':focus-within')) composer.focus();
});
chats.open();
composer.enable();

import { createElicitationCards } from '/ai-sdk.js';
import { createElicitationServer } from '/elicitation-server.js';
import '/elicitation-inbox.js';
import '/approval-card.js';
import { createAnnouncer } from './announce.js';
import { createApi } from './api.js';
import { setUpChatList } from './chat-list.js';
import { createChats } from './chats.js';
import { createComposer } from './composer.js';
import { element } from './element.js';
import { followEnd } from './follow-end.js';
import { setUpInbox } from './inbox.js';
import { createView } from './view.js';

const at = (id) => document.getElementById(id);
const session = await readSession();

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
  const { messages, isRunning, isDeniable, refusal, takeRefusedText } = chats.current;
  at('intro').hidden = messages.length > 0;
  composer.show({ isRunning: isRunning(), isDeniable: isDeniable(), refusal: refusal() });
  composer.giveBack(takeRefusedText());
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
  element('a', { href: `/?person=${session.other}` }, `Switch to ${session.other}`),
);
at('model').textContent = session.model;
at('fresh').addEventListener('click', () => {
  chats.startNew();
  composer.focus();
});
// After an answer, the focus returns to the text box.
for (const event of ['elicitation-settled', 'approval-settled'])
  at('history').addEventListener(event, async ({ target }) => {
    void chats.current.resume();
    await target.updateComplete;
    const isOpen = target.approvals?.some(({ status }) => status === 'pending');
    if (!isOpen && target.matches(':focus-within')) composer.focus();
  });
setUpChatList({
  place: at('chats'),
  api,
  current: () => chats.current.chatId,
  onRemoved: (chatId) => chats.remove(chatId),
});
chats.open();
composer.enable();

/** Reads who uses this page. For an unknown person it shows who can use it, and does not start anything else. */
async function readSession() {
  const response = await fetch(`/session${location.search}`);
  const session = await response.json();
  if (response.ok) return session;
  const links = session.people.map((name) =>
    element('a', { href: `/?person=${name}` }, `Continue as ${name}`),
  );
  for (const part of document.querySelectorAll('header > :not(h1), footer')) part.hidden = true;
  at('intro').replaceChildren(
    element('p', { className: 'greeting' }, `There is no user named ${session.asked}`),
    element('p', {}, ...links.flatMap((link, at) => (at === 0 ? [link] : [' or ', link]))),
  );
  throw new Error('No such person.');
}

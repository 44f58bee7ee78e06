import { createAnnouncer } from './announce.js';
import { createApi } from './api.js';
import { createConversation } from './conversation.js';
import { button, element } from './element.js';
import { createView } from './view.js';

const HINTS = [
  'List my issues',
  'Create an issue "The search is slow"',
  'Ask the release agent to "ask me in a form"',
];

const at = (id) => document.getElementById(id);
const session = await (await fetch(`/session${location.search}`)).json();

const api = createApi({ token: session.token, onPod: (what, pod) => conversation.notePod(what, pod) });
const view = createView(at('history'), (question, response) => conversation.answer(question, response));
const announce = createAnnouncer(at('status'));
const conversation = createConversation({ api, storeKey: `parley-demo-${session.person}`, onChange: show });

function show() {
  const isRunning = conversation.running() !== undefined;
  at('stop').hidden = !isRunning;
  at('send').hidden = at('hints').hidden = isRunning;
  at('intro').hidden = conversation.messages.length > 0;
  view.show(conversation.messages);
  announce(conversation.messages);
}

async function say(text) {
  if (text.trim() === '' || conversation.running() !== undefined) return;
  at('words').value = '';
  await conversation.say(text.trim());
  // Whoever was answering a card is brought back to where the conversation goes on.
  if (document.activeElement === document.body) at('words').focus();
}

at('who').prepend(
  element('span', {}, `You are ${session.person}.`),
  element('a', { href: `/?person=${session.other}` }, `Be ${session.other}`),
);
at('model').textContent = session.model;
at('hints').append(...HINTS.map((hint) => button(hint, () => void say(hint))));
at('composer').addEventListener('submit', (event) => {
  event.preventDefault();
  void say(at('words').value);
});
at('words').addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void say(at('words').value);
});
at('stop').addEventListener('click', () => void conversation.stop());
at('fresh').addEventListener('click', async () => {
  if (conversation.running() !== undefined) await conversation.stop();
  conversation.startAnew();
  at('words').focus();
});
await conversation.takeUp();

import { element } from './element.js';
import { describe } from './refusal.js';

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });
const TITLE_MAX = 80;

/**
 * One chat in the list: a link to it, and buttons to rename and delete it. Each button turns the line into a small form.
 * Escape, or the button that cancels, restores the link.
 */
export function createChatLine({ chat, api, isCurrent, onRemoved }) {
  const line = element('li');
  let { title } = chat;
  const name = () => title ?? 'Untitled';

  function showLink(focused) {
    const when = chat.isRunning ? 'in progress' : TIME.format(new Date(chat.latestTurnAt));
    const time = element('span', { className: 'fine' }, when);
    const link = element('a', { href: `#${chat.conversationId}` }, element('bdi', {}, name()), time);
    if (isCurrent(chat.conversationId)) link.ariaCurrent = 'page';
    const buttons = { rename: buttonFor('Rename', showRename), delete: buttonFor('Delete', showDelete) };
    line.replaceChildren(link, buttons.rename, buttons.delete);
    buttons[focused]?.focus();
  }

  function buttonFor(label, onclick) {
    return element('button', { type: 'button', ariaLabel: `${label} ${name()}`, onclick }, label);
  }

  /** Shows a form in place of the link. `act` is called when the form is sent. */
  function showForm({ label, fields, main, keep, from, act }) {
    const note = element('p', { className: 'fine', role: 'alert' });
    const send = element('button', { className: 'main' }, main);
    const back = element('button', { type: 'button', onclick: () => showLink(from) }, keep);
    const form = element('form', { ariaLabel: label }, ...fields, send, back, note);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      send.disabled = true;
      try {
        await act();
      } catch (error) {
        send.disabled = false;
        note.textContent = describe(error, 'That did not work. Try again.');
      }
    });
    form.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      showLink(from);
    });
    line.replaceChildren(form);
    return back;
  }

  function showRename() {
    const input = element('input', {
      value: name(),
      maxLength: TITLE_MAX,
      required: true,
      ariaLabel: 'Title',
    });
    async function act() {
      ({ title } = await api.rename(chat.conversationId, input.value));
      showLink('rename');
    }
    showForm({
      label: `Rename ${name()}`,
      fields: [input],
      main: 'Save',
      keep: 'Cancel',
      from: 'rename',
      act,
    });
    input.select();
  }

  function showDelete() {
    const question = element(
      'p',
      {},
      'Delete “',
      element('bdi', {}, name()),
      '”? Nothing of it will be left.',
    );
    async function act() {
      await api.remove(chat.conversationId);
      onRemoved(chat.conversationId, line);
    }
    const label = `Delete ${name()}`;
    showForm({ label, fields: [question], main: 'Delete', keep: 'Keep', from: 'delete', act }).focus();
  }

  showLink();
  return line;
}

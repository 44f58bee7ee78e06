import { element } from './element.js';

const HINTS = [
  'List my issues',
  'Create an issue "The search is slow"',
  'Ask the release agent to "ask me in a form"',
];

/**
 * The text box: Enter sends, Shift+Enter begins a new line. While a turn runs, a button stops it. The box is disabled in the
 * page until `enable` is called: what a person typed before the scripts had loaded could not be sent.
 */
export function createComposer({ onSend, onStop }) {
  const [form, words, send, stop, hints] = ['composer', 'words', 'send', 'stop', 'hints'].map((id) =>
    document.getElementById(id),
  );
  let isRunning = false;

  function sendText(text) {
    if (text.trim() === '' || isRunning) return;
    onSend(text.trim());
    focus();
  }

  function sendTyped() {
    if (isRunning) return;
    const text = words.value;
    words.value = '';
    sendText(text);
  }

  /** Not on a touch screen, where the keyboard would cover the conversation. */
  function focus() {
    if (matchMedia('(hover: hover)').matches) words.focus();
  }

  hints.append(
    ...HINTS.map((hint) => element('button', { type: 'button', onclick: () => sendText(hint) }, hint)),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sendTyped();
  });
  words.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    sendTyped();
  });
  stop.addEventListener('click', onStop);

  return {
    focus,
    enable() {
      words.disabled = false;
    },
    show(running) {
      isRunning = running;
      stop.hidden = !running;
      send.hidden = running;
      for (const hint of hints.children) hint.disabled = running;
    },
  };
}

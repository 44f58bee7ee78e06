import { element } from './element.js';

const IDS = ['composer', 'words', 'send', 'stop', 'hints', 'denies', 'refused'];
const HINTS = [
  'List my issues',
  'Create an issue "The search is slow"',
  'Ask the release agent to "ask me in a form"',
];

/**
 * The text box. Enter sends, and Shift+Enter begins a new line. While a turn runs, a button stops it. While the turn waits only
 * for approvals, a message can be sent too, and denies them. The box is disabled until `enable` is called, because text typed
 * before the scripts had loaded could not be sent.
 */
export function createComposer({ onSend, onStop }) {
  const [form, words, send, stop, hints, denies, refused] = IDS.map((id) => document.getElementById(id));
  let takesText = true;

  function sendText(text) {
    if (text.trim() === '' || !takesText) return;
    onSend(text.trim());
    focus();
  }

  function sendTyped() {
    if (!takesText) return;
    const text = words.value;
    words.value = '';
    sendText(text);
  }

  /** The box does not get the focus on a touch screen, where the keyboard would cover the conversation. */
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
    show({ isRunning, isDeniable, refusal = '' }) {
      takesText = !isRunning || isDeniable;
      stop.hidden = !isRunning;
      send.hidden = !takesText;
      denies.hidden = !isDeniable;
      // Setting an unchanged text again would make screen readers announce it again.
      if (refused.textContent !== refusal) refused.textContent = refusal;
      for (const hint of hints.children) hint.disabled = isRunning;
    },
    /** Inserts the text of a refused message before what has been typed since. */
    giveBack(text) {
      if (text !== undefined) words.value = [text, words.value].filter(Boolean).join('\n');
    },
  };
}

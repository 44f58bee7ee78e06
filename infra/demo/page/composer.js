import { element } from './element.js';

const HINTS = [
  'List my issues',
  'Create an issue "The search is slow"',
  'Ask the release agent to "ask me in a form"',
];

/** Where a person writes: Enter sends, Shift+Enter begins a line. While a turn runs, it can be stopped instead. */
export function createComposer({ onSay, onStop }) {
  const [form, words, send, stop, hints] = ['composer', 'words', 'send', 'stop', 'hints'].map((id) =>
    document.getElementById(id),
  );
  let isRunning = false;

  function say(text) {
    if (text.trim() === '' || isRunning) return;
    onSay(text.trim());
    focus();
  }

  function sayWords() {
    if (isRunning) return;
    const text = words.value;
    words.value = '';
    say(text);
  }

  /** Not on a touch screen, where that would bring up the keyboard over what there is to read. */
  function focus() {
    if (matchMedia('(hover: hover)').matches) words.focus();
  }

  hints.append(...HINTS.map((hint) => element('button', { type: 'button', onclick: () => say(hint) }, hint)));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    sayWords();
  });
  words.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    sayWords();
  });
  stop.addEventListener('click', onStop);

  return {
    focus,
    show(running) {
      isRunning = running;
      stop.hidden = !running;
      send.hidden = running;
      for (const hint of hints.children) hint.disabled = running;
    },
  };
}

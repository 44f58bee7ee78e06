import { element } from './element.js';
import { APPROVAL, QUESTION } from './message.js';

/** Creates the view of one part of a message: an element and its update function. Undefined for an unknown type. */
export function createPartView(part, cards) {
  return CARDS.includes(part.type) ? cardView(part, cards) : VIEWS[part.type]?.();
}

const VIEWS = {
  text: () => paragraphView('text'),
  note: () => paragraphView('note'),
  tool: toolView,
  thinking: thinkingView,
};
const CARDS = [QUESTION, APPROVAL];

/**
 * The view of a card. A card follows the state of its question or approvals itself, and also gets each new version of them from
 * the chat. All approvals of one step share a card.
 */
function cardView(part, cards) {
  const card = cards.cardFor(part);
  return card && { element: card, update: (changed) => cards.cardFor(changed) };
}

function paragraphView(className) {
  const paragraph = element('p', { className, dir: 'auto' });
  return {
    element: paragraph,
    update({ text }) {
      // Appending text keeps a selection in the paragraph.
      const shown = paragraph.firstChild?.data ?? '';
      if (text.startsWith(shown) && shown !== '') paragraph.firstChild.appendData(text.slice(shown.length));
      else paragraph.textContent = text;
    },
  };
}

function thinkingView() {
  return { element: element('p', { className: 'fine' }, 'Thinking'), update() {} };
}

const TOOL_STATES = {
  running: 'in progress',
  asking: 'waits for your approval',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  unfinished: 'not finished',
};

/** A line for a tool call, which unfolds to its input and output. */
function toolView() {
  const name = element('code');
  const state = element('span', { className: 'tool-state' });
  const details = element('dl');
  const activity = element('details', { className: 'tool' }, element('summary', {}, name, state), details);
  return {
    element: activity,
    update(part) {
      if (activity.dataset.state === part.state) return;
      activity.dataset.state = part.state;
      name.textContent = part.name;
      state.textContent = TOOL_STATES[part.state];
      details.replaceChildren(
        ...detailRow('Input', part.input),
        ...detailRow(part.state === 'failed' ? 'Error' : 'Output', part.output),
      );
    },
  };
}

function detailRow(term, value) {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return [element('dt', {}, term), element('dd', {}, element('pre', { tabIndex: 0 }, text))];
}

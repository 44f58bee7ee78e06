import { element } from './element.js';
import { QUESTION } from './message.js';

/**
 * Makes what shows one part of a message: an element, and how to bring it up to date. Undefined for a part that nothing
 * here can show.
 */
export function createPartView(part, cards) {
  return part.type === QUESTION ? questionView(part, cards) : VIEWS[part.type]?.();
}

const VIEWS = {
  text: () => paragraphView('text'),
  note: () => paragraphView('note'),
  tool: toolView,
};

/** A card follows its question by itself, and is told besides what the chat learns. */
function questionView(part, cards) {
  const card = cards.cardFor(part);
  return card && { element: card, update: (news) => cards.cardFor(news) };
}

function paragraphView(className) {
  const paragraph = element('p', { className, dir: 'auto' });
  return {
    element: paragraph,
    update({ text }) {
      // What is there already is left alone: a selection in it survives.
      const shown = paragraph.firstChild?.data ?? '';
      if (text.startsWith(shown) && shown !== '') paragraph.firstChild.appendData(text.slice(shown.length));
      else paragraph.textContent = text;
    },
  };
}

const TOOL_STATES = { running: 'in progress', done: 'done', failed: 'failed', left: 'not finished' };

/** One line for what the agent does, with the details for whoever wants them. */
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
        ...rowOf('Input', part.input),
        ...rowOf(part.state === 'failed' ? 'Error' : 'Output', part.output),
      );
    },
  };
}

function rowOf(term, value) {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return [element('dt', {}, term), element('dd', {}, element('pre', { tabIndex: 0 }, text))];
}

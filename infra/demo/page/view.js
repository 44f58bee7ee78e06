import { createCard } from './card.js';
import { element } from './element.js';

const STATES = {
  running: 'is writing…',
  stopped: 'stopped.',
  failed: '',
  lost: 'The rest of this answer did not reach this page; ask again.',
  finished: '',
};

/** Shows a conversation; elements of what is known already are kept, so that nothing being filled in is lost. */
export function createView(place, answer) {
  let views = [];

  return {
    show(messages) {
      const atEnd = place.scrollHeight - place.scrollTop - place.clientHeight < 80;
      views = messages.map((message, at) => {
        const known = views[at];
        if (known?.message === message) return known;
        return createMessageView(message, answer);
      });
      for (const view of views) view.update();
      const elements = views.map((view) => view.element);
      const same =
        elements.length === place.children.length && elements.every((one, at) => one === place.children[at]);
      if (!same) place.replaceChildren(...elements);
      if (atEnd) place.scrollTop = place.scrollHeight;
    },
  };
}

function createMessageView(message, answer) {
  const parts = new Map();
  const body = element('div', { className: 'parts' });
  const state = element('p', { className: 'fine state' });
  const pods = element('p', { className: 'fine pods' });
  const mine = message.role === 'user';
  const speaker = element('h2', { className: 'unseen', textContent: mine ? 'You' : 'Agent' });
  const article = element('article', { className: message.role }, speaker, body, state, pods);

  return {
    message,
    element: article,
    update() {
      const shown = message.parts.map((part) => {
        const key = `${part.type} ${part.id}`;
        if (!parts.has(key)) parts.set(key, PARTS[part.type](part, answer));
        const view = parts.get(key);
        view.update(part.type === 'question' ? part.data : part);
        return view.element;
      });
      const same =
        shown.length === body.children.length && shown.every((one, at) => one === body.children[at]);
      if (!same) body.replaceChildren(...shown);
      const waits = message.parts.some(({ data }) => ['pending', 'opened'].includes(data?.status));
      state.textContent = waits ? '' : (STATES[message.state] ?? '');
      state.hidden = state.textContent === '';
      article.ariaBusy = String(message.state === 'running');
      pods.textContent = message.pods.map(({ what, pod }) => `${what}: ${pod}`).join(' · ');
    },
  };
}

const PARTS = {
  text() {
    const paragraph = element('p', { className: 'text' });
    return { element: paragraph, update: ({ text }) => (paragraph.textContent = text) };
  },
  note() {
    const paragraph = element('p', { className: 'note' });
    return { element: paragraph, update: ({ text }) => (paragraph.textContent = text) };
  },
  tool(part) {
    const outcome = element('span');
    const summary = element('summary', {}, element('code', {}, part.name), ' ', outcome);
    const details = element('pre');
    const activity = element('details', { className: 'tool' }, summary, details);
    const WORDS = { running: 'in progress…', returned: 'done', failed: 'failed' };
    return {
      element: activity,
      update({ input, output, state }) {
        activity.dataset.state = state;
        outcome.textContent = WORDS[state];
        details.textContent = [input, output]
          .filter((value) => value !== undefined)
          .map((value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)))
          .join('\n→ ');
      },
    };
  },
  question: (part, answer) => createCard(part.data, answer),
};

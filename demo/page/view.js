import { element } from './element.js';
import { ENDINGS, findOpenApprovals, findOpenQuestion } from './message.js';
import { createPartView } from './parts.js';

/**
 * Shows a conversation. The elements of a message are created only once, so a half-filled form survives every update. If Parley
 * could not be reached, the newest message has a button to try again.
 */
export function createView({ place, cards, onTryAgain }) {
  const views = new WeakMap();

  function viewOf(message) {
    const view = views.get(message) ?? createMessageView(message, cards, onTryAgain);
    views.set(message, view);
    return view;
  }

  return (messages) => {
    const shown = messages.map(viewOf);
    for (const view of shown) view.update(view === shown.at(-1));
    arrange(
      place,
      shown.map((view) => view.element),
    );
  };
}

function createMessageView(message, cards, onTryAgain) {
  const parts = new Map();
  const body = element('div', { className: 'parts' });
  const remark = element('p', { className: 'note' });
  const ending = element('p', { className: 'fine' });
  const again = element('button', { type: 'button', onclick: onTryAgain }, 'Try again');
  const pods = element('p', { className: 'fine' });
  const speaker = element('h2', { className: 'unseen' }, message.role === 'user' ? 'You' : 'Agent');
  const article = element('article', { className: message.role }, speaker, body, remark, ending, again, pods);

  function partViewOf(part) {
    const key = `${part.type} ${part.id}`;
    if (!parts.has(key)) parts.set(key, createPartView(part, cards));
    parts.get(key)?.update(part);
    return parts.get(key);
  }

  return {
    element: article,
    update(isNewest) {
      // Parts of one step share a card, which is placed where the first of them is.
      const shown = new Set(message.parts.flatMap((part) => partViewOf(part)?.element ?? []));
      arrange(body, [...shown]);
      article.ariaBusy = String(message.state === 'running');
      const isAsking = findOpenQuestion(message) !== undefined || findOpenApprovals(message).length > 0;
      article.toggleAttribute('data-waits', isAsking);
      remark.textContent = message.remark ?? '';
      remark.hidden = message.remark === undefined;
      ending.textContent = ENDINGS[message.state] ?? '';
      again.hidden = !isNewest || message.state !== 'unreached';
      pods.textContent = message.pods.map(({ what, pod }) => `${what}: ${pod}`).join(' · ');
    },
  };
}

/** Makes these elements the children of `place`. Elements that keep their position keep their focus and their drafts. */
function arrange(place, elements) {
  elements.forEach((one, index) => {
    if (place.children[index] !== one) place.insertBefore(one, place.children[index] ?? null);
  });
  while (place.children.length > elements.length) place.lastElementChild.remove();
}

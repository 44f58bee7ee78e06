import { button, element } from './element.js';
import { createFields } from './form.js';

const ENDINGS = {
  accepted: 'Answered.',
  declined: 'You declined.',
  cancelled: 'You left it for now.',
  expired: 'Nobody answered in time.',
  withdrawn: 'The agent took the question back.',
};

/**
 * The card of one question: a form, or a page to open. What it shows follows from the question as the stream tells it;
 * `answer` sends the person's choice, and its failure is shown here.
 */
export function createCard(question, answer) {
  const { elicitationId, mode } = question;
  const fields = mode === 'form' ? createFields(elicitationId, question.requestedSchema) : undefined;
  const heading = element('h2', {
    id: `${elicitationId}-title`,
    textContent: question.title ?? 'A question',
  });
  const words = element('p', { id: `${elicitationId}-words`, textContent: question.message });
  const open = element('form', { noValidate: true });
  const state = element('p', { className: 'state' });
  const fault = element('p', { className: 'error' });
  const card = element(
    'div',
    {
      className: 'card',
      id: elicitationId,
      role: 'group',
      'aria-labelledby': heading.id,
      'aria-describedby': words.id,
    },
    heading,
    words,
    state,
    open,
  );

  async function send(response) {
    fault.textContent = '';
    try {
      await answer(question, response);
    } catch (error) {
      // The stream tells how a question ended that somebody else was faster with.
      if (error.status === 409) return;
      const marked = fields?.showErrors(error.errors ?? []) ?? false;
      fault.textContent = marked ? '' : error.message;
    }
  }

  open.addEventListener('submit', (event) => {
    event.preventDefault();
    if (mode === 'form') void send({ action: 'accept', content: fields.content() });
  });
  const agree =
    mode === 'form'
      ? element('button', { type: 'submit', className: 'main', textContent: 'Send' })
      : linkTo(question, () => void send({ action: 'accept' }));
  const decline = button('Decline', () => void send({ action: 'decline' }));
  const cancel = button('Not now', () => void send({ action: 'cancel' }));
  const until = new Date(question.expiresAt).toLocaleTimeString([], { timeStyle: 'short' });
  open.append(
    ...(fields?.elements ?? addressOf(question.url)),
    fault,
    element('p', { className: 'actions' }, agree, decline, cancel),
    element('p', { className: 'fine', textContent: `Open until ${until}` }),
  );

  function update({ status }) {
    card.dataset.status = status;
    const ending = status === 'accepted' && connects(question) ? 'Connected.' : ENDINGS[status];
    open.hidden = ending !== undefined;
    if (status === 'opened') agree.textContent = 'Open the page again';
    state.textContent = ending ?? (status === 'opened' ? 'Waiting for you in the other tab…' : '');
  }
  update(question);
  return { element: card, update };
}

/** A real link, which no browser takes for a popup; the new tab gets no hold of this page. */
function linkTo(question, onClick) {
  const link = element('a', {
    className: 'main',
    href: question.url,
    target: '_blank',
    rel: 'noopener noreferrer',
    textContent: connects(question) ? 'Connect account' : 'Open the page',
  });
  link.addEventListener('click', onClick);
  return link;
}

function connects({ context }) {
  return context?.trigger === 'credential_required';
}

/** Where the link leads, host first: it is what a person can judge. */
function addressOf(url) {
  const { host } = new URL(url);
  return [
    element('p', { className: 'address' }, 'Opens ', element('strong', {}, element('bdi', {}, host))),
    element('p', { className: 'fine' }, element('code', {}, element('bdi', {}, url))),
  ];
}

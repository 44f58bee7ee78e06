import { textOf } from './message.js';

const ENDED = {
  accepted: 'answered',
  declined: 'declined',
  cancelled: 'left for now',
  expired: 'over: nobody answered in time',
};

/** Tells screen readers what is worth an interruption: a question, its end, a whole answer. Never single words. */
export function createAnnouncer(place) {
  const told = new WeakMap();

  return (messages) => {
    const message = messages.at(-1);
    if (message?.role !== 'assistant') return;
    const news = newsOf(message);
    if (told.get(message) === news || news === '') return;
    told.set(message, news);
    place.textContent = news;
  };
}

function newsOf(message) {
  if (message.state === 'finished') return `The agent says: ${textOf(message)}`;
  const question = message.parts.findLast(({ type }) => type === 'question')?.data;
  if (question === undefined) return '';
  const { title = 'A question', status } = question;
  if (status === 'pending') return `The agent asks you: ${title}. ${question.message}`;
  if (status === 'opened') return `${title}: waiting for you in the other tab.`;
  return `${title}: ${ENDED[status] ?? 'taken back'}.`;
}

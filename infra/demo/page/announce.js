import { openQuestionOf, textOf } from './message.js';

/**
 * Tells screen readers what is worth an interruption: a question, and a whole answer. Never single words; how a question
 * ends, its card tells.
 */
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
  const question = openQuestionOf(message);
  if (question?.status !== 'pending') return '';
  return `The agent asks you: ${question.title ?? 'a question'}. ${question.message}`;
}

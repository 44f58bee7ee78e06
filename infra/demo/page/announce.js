import { ENDINGS, openQuestionOf, textOf } from './message.js';

/**
 * Tells screen readers what is worth an interruption: a question, a whole answer, and why there is none. Never single
 * words; how a question ends, its card tells.
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

function saidBy(message) {
  const text = textOf(message);
  return text === '' ? '' : `The agent says: ${text}`;
}

function newsOf(message) {
  const { state, remark = '' } = message;
  if (!['running', 'waiting'].includes(state))
    return [saidBy(message), remark, ENDINGS[state]].filter(Boolean).join(' ');
  const question = openQuestionOf(message);
  if (remark !== '' || question?.status !== 'pending') return remark;
  return `The agent asks you: ${question.title ?? 'a question'}. ${question.message}`;
}

import { ENDINGS, findOpenApprovals, findOpenQuestion, textOf } from './message.js';

/**
 * Announces to screen readers: a question, calls to approve, a complete reply, and why there is no reply. Parts of a text are
 * not announced. The card of a question announces its own end.
 */
export function createAnnouncer(place) {
  const announced = new WeakMap();

  return (messages) => {
    const message = messages.at(-1);
    if (message?.role !== 'assistant') return;
    const text = announcementOf(message);
    if (announced.get(message) === text || text === '') return;
    announced.set(message, text);
    place.textContent = text;
  };
}

function replyText(message) {
  const text = textOf(message);
  return text === '' ? '' : `The agent says: ${text}`;
}

function announcementOf(message) {
  const { state, remark = '' } = message;
  if (!['running', 'waiting'].includes(state))
    return [replyText(message), remark, ENDINGS[state]].filter(Boolean).join(' ');
  const question = findOpenQuestion(message);
  const [call] = findOpenApprovals(message);
  if (remark === '' && question?.status !== 'pending' && call !== undefined)
    return `The agent asks you to approve a call: ${call.tool.title ?? call.tool.name}.`;
  if (remark !== '' || question?.status !== 'pending') return remark;
  return `The agent asks you: ${question.title ?? 'a question'}. ${question.message}`;
}

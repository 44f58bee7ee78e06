import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';

/**
 * The elicitation as the client of its turn shows it. A form that the client cannot show is a url question there: its url
 * is the page that takes the answer, and the form's end is its completion. Every other elicitation stays as it is.
 */
export function asClientShows(elicitation: Elicitation): Elicitation {
  if (elicitation.answerUrl === undefined) return elicitation;
  const { answerUrl, requestedSchema: _schema, content: _content, ...rest } = elicitation;
  return { ...rest, mode: 'url', url: answerUrl, completion: 'server' };
}

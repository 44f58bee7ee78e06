import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';

/**
 * The elicitation in the form that the client of its turn displays. A form that the client cannot show becomes a url question
 * whose page takes the answer, and whose completion is the end of the form. Every other elicitation is unchanged.
 */
export function asClientShows(elicitation: Elicitation): Elicitation {
  if (elicitation.answerUrl === undefined) return elicitation;
  const { answerUrl, requestedSchema: _schema, content: _content, ...rest } = elicitation;
  return { ...rest, mode: 'url', url: answerUrl, completion: 'server' };
}

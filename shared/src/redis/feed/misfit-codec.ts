import { AnswerMisfit } from '../../domain/elicitations/answer-misfit.ts';

// No wake begins like this: wakes begin with a position.
const PREFIX = 'misfit ';

/** Writes a hint for the channel of a stream request, which carries wakes as well. */
export function encodeMisfit({ elicitationId }: AnswerMisfit): string {
  return `${PREFIX}${elicitationId}`;
}

/** Reads such a hint; nothing for any other message of the channel. */
export function decodeMisfit(message: string): AnswerMisfit | undefined {
  if (!message.startsWith(PREFIX)) return undefined;
  return AnswerMisfit.parse({ elicitationId: message.slice(PREFIX.length) });
}

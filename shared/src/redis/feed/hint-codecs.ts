import type { AnswerMisfit } from '../../domain/elicitations/answer-misfit.ts';
import type { ClientReplied } from '../../domain/runs/client-request.ts';

// Hints share the channel of a stream request with wakes. They cannot be confused, because a wake begins with a position.
const MISFIT = 'misfit ';
const REPLIED = 'replied ';

/** Encodes a hint that an answer did not fit its form. */
export function encodeMisfit({ elicitationId }: AnswerMisfit): string {
  return `${MISFIT}${elicitationId}`;
}

/** Decodes a hint of `encodeMisfit`; undefined for any other message of the channel. */
export function decodeMisfit(message: string): AnswerMisfit | undefined {
  const elicitationId = after(MISFIT, message);
  return elicitationId === undefined ? undefined : { elicitationId };
}

/** Encodes a hint that a client has replied to a request. */
export function encodeReplied({ requestId }: ClientReplied): string {
  return `${REPLIED}${requestId}`;
}

/** Decodes a hint of `encodeReplied`; undefined for any other message of the channel. */
export function decodeReplied(message: string): ClientReplied | undefined {
  const requestId = after(REPLIED, message);
  return requestId === undefined ? undefined : { requestId };
}

function after(prefix: string, message: string): string | undefined {
  return message.startsWith(prefix) ? message.slice(prefix.length) : undefined;
}

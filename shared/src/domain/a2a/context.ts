import { ParleyError } from '../errors.ts';
import { isReferenceId } from '../ids.ts';

const PARALLEL = 'a2a.';
const MARK_LENGTH = 22;
// A conversation id has room for the mark of a parallel task.
const CONTEXT_LENGTH_MAX = 128 - PARALLEL.length - MARK_LENGTH - 1;

/** The conversation that a client names as its context. Throws `invalid_request`. */
export function checkContextId(contextId: string): string {
  if (isReferenceId(contextId) && contextId.length <= CONTEXT_LENGTH_MAX && !contextId.startsWith(PARALLEL))
    return contextId;
  throw new ParleyError('invalid_request', 'The contextId is none that Parley can have.', {
    issues: [
      { path: 'message.contextId', message: `must be 1 to ${CONTEXT_LENGTH_MAX} of A-Z a-z 0-9 . _ -` },
    ],
  });
}

/** The conversation of a task that runs beside another one of its context. `digest` is a base64url digest of its message. */
export function parallelConversation(contextId: string, digest: string): string {
  return `${PARALLEL}${digest.slice(0, MARK_LENGTH)}.${contextId}`;
}

/** The context of a task, by the conversation of its turn. */
export function contextOf(conversationId: string): string {
  return conversationId.startsWith(PARALLEL)
    ? conversationId.slice(PARALLEL.length + MARK_LENGTH + 1)
    : conversationId;
}

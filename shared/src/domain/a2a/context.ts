import { ParleyError } from '@parley/core/domain/errors';
import { isReferenceId } from '@parley/core/domain/ids';

const MARK_LENGTH = 22;
const PARALLEL = 'a2a.';
const OF_KEY = 'a2k.';
// A conversation id must have room for the marks of a service key and of a parallel task.
const CONTEXT_LENGTH_MAX = 128 - PARALLEL.length - OF_KEY.length - 2 * (MARK_LENGTH + 1);

/** Checks the context id that a client sent. Throws `invalid_request`. */
export function checkContextId(contextId: string): string {
  const isOurs = contextId.startsWith(PARALLEL) || contextId.startsWith(OF_KEY);
  if (isReferenceId(contextId) && contextId.length <= CONTEXT_LENGTH_MAX && !isOurs) return contextId;
  throw new ParleyError('invalid_request', 'The contextId is none that Parley can have.', {
    issues: [
      { path: 'message.contextId', message: `must be 1 to ${CONTEXT_LENGTH_MAX} of A-Z a-z 0-9 . _ -` },
    ],
  });
}

/**
 * The conversation id for a context that a service key began for a person. `digest` is a base64url digest of the key's name.
 */
export function conversationOfKey(digest: string, contextId: string): string {
  return `${OF_KEY}${digest.slice(0, MARK_LENGTH)}.${contextId}`;
}

/**
 * The conversation id for a task that runs in parallel to another task of the conversation. `digest` is a base64url digest of
 * its message.
 */
export function parallelConversation(conversationId: string, digest: string): string {
  return `${PARALLEL}${digest.slice(0, MARK_LENGTH)}.${conversationId}`;
}

/** Whether a service key began the conversation. */
export function isOfKey(digest: string, conversationId: string): boolean {
  return without(PARALLEL, conversationId).startsWith(conversationOfKey(digest, ''));
}

/** The context id that belongs to the conversation of a turn. */
export function contextOf(conversationId: string): string {
  return without(OF_KEY, without(PARALLEL, conversationId));
}

function without(prefix: string, conversationId: string): string {
  return conversationId.startsWith(prefix)
    ? conversationId.slice(prefix.length + MARK_LENGTH + 1)
    : conversationId;
}

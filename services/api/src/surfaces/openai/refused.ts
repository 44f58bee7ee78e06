import { ParleyError } from '@parley/core/domain/errors';
import { type ChatMessage, holdsContent } from '../../turns/messages.ts';

/** Why clients may not set what belongs to the agent's configuration. */
export const AGENTS_OWN = 'agents have it from their configuration';
const INSTRUCTING: readonly string[] = ['system', 'developer'];

/** The error of a request with one invalid field. */
export function refused(path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', 'The body is not well formed; see errors.', {
    issues: [{ path, message }],
  });
}

/** Refuses messages that instruct the model, because the client would expect a reply that follows them. */
export function refuseInstructions(message: ChatMessage, path: string): void {
  if (INSTRUCTING.includes(message.role) && holdsContent(message))
    throw refused(`${path}.role`, `must not be ${message.role}: ${AGENTS_OWN}`);
}

import type { JSONRPCMessage, Result } from '@modelcontextprotocol/client';
import { visibleLabels, visibleTexts } from '@parley/shared/domain/visible';
import type { McpUnauthorized } from '../calls/results.ts';
import type { Scrub } from '../calls/scrub.ts';

/** Takes the secrets that a server was sent out of what it sends, and what cannot be seen out of its texts. */
export interface Door {
  message(message: JSONRPCMessage): JSONRPCMessage;
  /** The same for what a refusal says in its headers. */
  refusal(refusal: McpUnauthorized): McpUnauthorized;
}

/** Members of a result that are sent back to the server, unread and unchanged. */
const RETURNED = ['requestState', 'nextCursor'];
/** Members of a result that describe something to people. The others are data, which keeps its characters. */
const DESCRIBED = ['tools', 'prompts', 'resources', 'resourceTemplates', 'inputRequests'];

/**
 * Makes the door of a connection. Every message of the server passes it before anything reads it: results, errors, pages,
 * resources, prompts, completions, notices and questions.
 */
export function createDoor(scrub: Scrub): Door {
  const clean = <T>(value: T) => scrub.value(value) as T;

  // What cannot be seen is taken out first: it might divide a secret.
  function cleanResult(result: Result): Result {
    const own = (names: readonly string[], map: (value: unknown) => unknown) =>
      Object.fromEntries(
        names.filter((name) => Object.hasOwn(result, name)).map((name) => [name, map(result[name])]),
      );
    return { ...clean({ ...result, ...own(DESCRIBED, visibleLabels) }), ...own(RETURNED, (value) => value) };
  }

  function cleanMessage(message: JSONRPCMessage): JSONRPCMessage {
    if ('result' in message) return { ...message, result: cleanResult(message.result) };
    if ('error' in message) return { ...message, error: clean(visibleTexts(message.error)) };
    const read = 'id' in message ? visibleLabels : visibleTexts;
    return message.params === undefined ? message : { ...message, params: clean(read(message.params)) };
  }

  return { message: cleanMessage, refusal: clean };
}

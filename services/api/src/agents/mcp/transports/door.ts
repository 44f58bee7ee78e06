import { isInputRequiredResult, type JSONRPCMessage, type Result } from '@modelcontextprotocol/client';
import { isRecord } from '@parley/core/domain/plain-record';
import { visibleLabels, visibleTexts } from '@parley/core/domain/visible';
import { LEFT_OUT } from '@parley/shared/domain/json/depth';
import { countValues } from '@parley/shared/domain/json/values';
import { isReadable, READ_VALUES_MAX } from '../readable.ts';
import type { McpUnauthorized } from '../results.ts';
import type { Scrub } from '../scrub.ts';
import { TASK_RESULT } from '../tasks-extension.ts';

/** Takes the secrets that a server was sent out of what it sends, and what cannot be seen out of its texts. */
export interface Door {
  message(message: JSONRPCMessage): JSONRPCMessage;
  /** The same for what a refusal says in its headers. */
  refusal(refusal: McpUnauthorized): McpUnauthorized;
}

/** The members of lists. */
const LISTS = ['tools', 'prompts', 'resources', 'resourceTemplates'];
/** Members of a result that describe something to people. The others are data, which keeps its characters. */
const DESCRIBED = [...LISTS, 'inputRequests'];
/** Members of the state of a task that are read as an error and a notice are. */
const SAID_OF_TASKS = ['error', 'statusMessage'];

/** Values of all that one result describes: more than the tools that an agent can have take. */
const DESCRIBED_VALUES_MAX = 50_000;

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
    const described = own(DESCRIBED, createDescribedReader());
    const told = typeof result.taskId === 'string' ? own(SAID_OF_TASKS, visibleUnlessLarge) : {};
    return { ...clean({ ...result, ...described, ...told }), ...own(returnedOf(result), (value) => value) };
  }

  function cleanMessage(message: JSONRPCMessage): JSONRPCMessage {
    if ('result' in message) return { ...message, result: cleanResult(message.result) };
    if ('error' in message) {
      const { code, message: text } = message.error;
      const error = isReadable(message.error) ? message.error : { code, message: text };
      return { ...message, error: clean(visibleTexts(error)) };
    }
    const { params } = message;
    if (params === undefined) return message;
    if (isReadable(params)) {
      const read = 'id' in message ? visibleLabels : visibleTexts;
      return { ...message, params: clean(read(params)) };
    }
    // The reader of questions refuses it by its size. A notice is of no use without what it says.
    return 'id' in message ? message : { ...message, params: {} };
  }

  return { message: cleanMessage, refusal: clean };
}

function visibleUnlessLarge(value: unknown): unknown {
  return isReadable(value) ? visibleTexts(value) : undefined;
}

/** The members of a result that are sent back to the server, unread and unchanged. */
function returnedOf(result: Result): string[] {
  if (isInputRequiredResult(result)) return ['requestState'];
  if (result.resultType === TASK_RESULT) return ['taskId'];
  return LISTS.some((name) => Array.isArray(result[name])) ? ['nextCursor'] : [];
}

/** A result without the members that may hold what the server was sent, for those who get the rest as it is. */
export function withoutReturned<T extends Result>(result: T): T {
  const { requestState: _state, nextCursor: _cursor, ...shown } = result;
  return shown as Result as T;
}

/** Reads lists of what a result describes, item by item: one that is too large is lost alone. */
function createDescribedReader(): (value: unknown) => unknown {
  let left = DESCRIBED_VALUES_MAX;

  function visibleItem(item: unknown): unknown {
    const count = countValues(item, READ_VALUES_MAX);
    left -= count;
    return count > READ_VALUES_MAX || left < 0 ? withoutContent(item) : visibleLabels(item);
  }

  return (value) => {
    if (Array.isArray(value)) return value.map(visibleItem);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, visibleItem(item)]));
  };
}

/**
 * What is left of an item that is too large: enough to name a tool or a question, which is refused then. A tool has a schema
 * all the same, for the SDK refuses whole lists without.
 */
function withoutContent(item: unknown): object {
  const { name, method } = isRecord(item) ? item : {};
  const inputSchema = { type: 'object', description: LEFT_OUT };
  return method === undefined ? { name, inputSchema } : { method, params: LEFT_OUT };
}

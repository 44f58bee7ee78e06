/**
 * The one door for messages of MCP servers: removes secrets and invisible characters. Everything behind it may show texts
 * unchanged.
 */

import { isInputRequiredResult, type JSONRPCMessage, type Result } from '@modelcontextprotocol/client';
import { isRecord } from '@parley/core/domain/plain-record';
import { visibleLabels, visibleTexts } from '@parley/core/domain/visible';
import { LEFT_OUT } from '@parley/shared/domain/json/depth';
import { countValues } from '@parley/shared/domain/json/values';
import { isReadable, READ_VALUES_MAX } from '../readable.ts';
import type { McpUnauthorized } from '../results.ts';
import type { Scrub } from '../scrub.ts';
import { TASK_RESULT } from '../tasks-extension.ts';

/** Removes from a server's messages the secrets that were sent to it, and from its texts the invisible characters. */
export interface Door {
  message(message: JSONRPCMessage): JSONRPCMessage;
  /** Does the same for the headers of a refusal. */
  refusal(refusal: McpUnauthorized): McpUnauthorized;
}

/** Members that contain lists. */
const LISTS = ['tools', 'prompts', 'resources', 'resourceTemplates'];
/** Members of a result that describe something to people. All others are data and keep their characters. */
const DESCRIBED = [...LISTS, 'inputRequests'];
/** Members of a task's state that are treated like an error and a notice. */
const SAID_OF_TASKS = ['error', 'statusMessage'];

/** The maximum number of JSON values in all descriptions of one result: more than the tools of an agent need. */
const DESCRIBED_VALUES_MAX = 50_000;

/**
 * Makes the door of a connection. Every message of the server passes through it before anything else reads it: results, errors,
 * pages, resources, prompts, completions, notices and questions.
 */
export function createDoor(scrub: Scrub): Door {
  const clean = <T>(value: T) => scrub.value(value) as T;

  // Invisible characters are removed first, because they might split a secret.
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
    // A request that is too large is refused later because of its size. A notice that is too large is emptied.
    return 'id' in message ? message : { ...message, params: {} };
  }

  return { message: cleanMessage, refusal: clean };
}

function visibleUnlessLarge(value: unknown): unknown {
  return isReadable(value) ? visibleTexts(value) : undefined;
}

/** The members of a result that are returned to the server unread and unchanged. */
function returnedOf(result: Result): string[] {
  if (isInputRequiredResult(result)) return ['requestState'];
  if (result.resultType === TASK_RESULT) return ['taskId'];
  return LISTS.some((name) => Array.isArray(result[name])) ? ['nextCursor'] : [];
}

/** A result without the members that may contain data sent to the server, for readers who get the rest unchanged. */
export function withoutReturned<T extends Result>(result: T): T {
  const { requestState: _state, nextCursor: _cursor, ...shown } = result;
  return shown as Result as T;
}

/** Reads lists of descriptions item by item, so that only an item that is too large is lost. */
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
 * The rest of an item that is too large: enough to name the tool or question, which is refused later. A tool still has a
 * schema, because the SDK refuses whole lists if one tool lacks it.
 */
function withoutContent(item: unknown): object {
  const { name, method } = isRecord(item) ? item : {};
  const inputSchema = { type: 'object', description: LEFT_OUT };
  return method === undefined ? { name, inputSchema } : { method, params: LEFT_OUT };
}

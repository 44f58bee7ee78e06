import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
} from '@modelcontextprotocol/server';
import { ParleyError } from '@parley/core/domain/errors';
import { isRecord, own } from '@parley/core/domain/plain-record';
import type { FoundTarget } from '../calls.ts';
import { RPC } from '../json-rpc.ts';

/** MCP's extension with which a call outlives its request. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** True if these capabilities contain the extension. */
function declares(capabilities: unknown): boolean {
  const extensions = isRecord(capabilities) ? own(capabilities, 'extensions') : undefined;
  return isRecord(extensions) && isRecord(own(extensions, TASKS));
}

/** True if the client of a request of revision 2026-07-28 supports tasks. */
export function knowsTasks(envelope: Readonly<Record<string, unknown>> | undefined): boolean {
  return declares(envelope?.[CLIENT_CAPABILITIES_META_KEY]);
}

/** How long a request waits for its call before its client gets a task, in ms. Undefined: it gets none. */
export function taskAfterMs(rule: FoundTarget['task'], isKnown: boolean): number | undefined {
  if (!isKnown || rule === undefined || rule.mode === 'never') return undefined;
  return rule.mode === 'always' ? 0 : rule.afterMs;
}

/** The refusal of a client that does not support tasks (-32021). */
export function tasksMissing(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
}

/** The refusal of an id that is not one of the caller's tasks. It does not tell whether such a task exists. */
export function unknownTask(): ProtocolError {
  return new ProtocolError(RPC.invalidParams, 'There is no such task.');
}

/** Refuses tools that can only run as a task to clients of revisions without the extension. */
export function refuseTaskOnly({ task }: FoundTarget): void {
  if (task?.mode !== 'required') return;
  throw new ParleyError(
    'invalid_request',
    'This tool runs as a task: its client must know the tasks of MCP 2026-07-28.',
  );
}

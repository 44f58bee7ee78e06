import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
} from '@modelcontextprotocol/server';
import { ParleyError } from '@parley/core/domain/errors';
import { isRecord, own } from '@parley/core/domain/plain-record';
import type { FoundTarget } from '../calls.ts';
import { RPC } from '../json-rpc.ts';

/** The extension of MCP by which a call outlives its request. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** Whether capabilities, or those of the client of one request, have the extension. */
function declares(capabilities: unknown): boolean {
  const extensions = isRecord(capabilities) ? own(capabilities, 'extensions') : undefined;
  return isRecord(extensions) && isRecord(own(extensions, TASKS));
}

/** Whether the client of one request of revision 2026-07-28 knows tasks. */
export function knowsTasks(envelope: Readonly<Record<string, unknown>> | undefined): boolean {
  return declares(envelope?.[CLIENT_CAPABILITIES_META_KEY]);
}

/** How long a request waits for its call until its client gets a task, in ms. Undefined: it gets none. */
export function taskAfterMs(rule: FoundTarget['task'], isKnown: boolean): number | undefined {
  if (!isKnown || rule === undefined || rule.mode === 'never') return undefined;
  return rule.mode === 'always' ? 0 : rule.afterMs;
}

/** The refusal of a client that does not know tasks (-32021). */
export function tasksMissing(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } });
}

/** The refusal of an id that is no task of the caller's, without a difference. */
export function unknownTask(): ProtocolError {
  return new ProtocolError(RPC.invalidParams, 'There is no such task.');
}

/** Refuses a tool that is a task alone to clients of revisions without the extension. */
export function refuseTaskOnly({ task }: FoundTarget): void {
  if (task?.mode !== 'required') return;
  throw new ParleyError(
    'invalid_request',
    'This tool runs as a task: its client must know the tasks of MCP 2026-07-28.',
  );
}

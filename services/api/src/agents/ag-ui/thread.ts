/**
 * Applies the events of a run to its thread, within a limit of size. Posting runs and storing the thread are in `run-task.ts`.
 */

import { jsonBytes } from '@parley/shared/domain/json/bytes';
import { RemoteFault } from '../remote/faults.ts';
import { type AgUiInterrupt, MalformedRun, type ReadEvent, type ThreadMessage } from './events.ts';
import { applyPatch, PatchError } from './json-patch.ts';

/** The part of a thread that an AG-UI client keeps between runs and sends with each run. */
export interface AgUiThread {
  readonly messages: readonly ThreadMessage[];
  readonly state?: unknown;
}

/** How a run ended. */
export type AgUiRunEnd =
  | { readonly type: 'success'; readonly result?: unknown }
  | { readonly type: 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly AgUiInterrupt[] }
  | { readonly type: 'error'; readonly code: string; readonly message: string };

/** A call that the agent made, or its result. */
export type ThreadCallEvent =
  | { readonly type: 'called'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'returned'; readonly id: string; readonly content: string };

/** Applies the events of one run to a thread. */
interface RunFold {
  /** Applies the next event. Returns how the run ended, if it did. Throws RemoteFault and MalformedRun. */
  take(event: ReadEvent): AgUiRunEnd | undefined;
  /** The calls and results since the last time this was called. */
  calls(): readonly ThreadCallEvent[];
  readonly thread: AgUiThread;
}

type OpenMessage = { -readonly [Key in keyof ThreadMessage]: ThreadMessage[Key] };

/** The thread is measured once its estimated size exceeds the limit by this factor. */
const UNMEASURED = 1.25;

/** Starts from a thread. `bytesMax` limits the size of the thread's JSON. */
export function createRunFold(before: AgUiThread, bytesMax: number): RunFold {
  let messages = structuredClone(before.messages) as OpenMessage[];
  let state = structuredClone(before.state);
  let byId = new Map(messages.map((message) => [message.id, message]));
  let callsById = callsOf(messages);
  /** The message and the call to which chunks without an id belong. */
  let openText = '';
  let openCall = '';
  const ended = new Set(callsById.keys());
  const made: ThreadCallEvent[] = [];
  let size = jsonBytes([messages, state]);

  /**
   * Adds to the estimated size. Data may also have been removed, so the estimate can be too high. The thread is measured only
   * well above the limit: measuring at each small event would be too slow for a thread near the limit.
   */
  function grow(bytes: number): void {
    size += bytes;
    if (size > bytesMax * UNMEASURED) measure();
  }

  /** `more` is the size of what is recorded beside the thread. */
  function measure(more = 0): void {
    size = jsonBytes([messages, state]) + more;
    if (size > bytesMax) throw new RemoteFault('too_large');
  }

  function messageOf(id: string, role: string): OpenMessage {
    const known = byId.get(id);
    if (known !== undefined) return known;
    const message: OpenMessage = { id, role };
    messages.push(message);
    byId.set(id, message);
    grow(jsonBytes(message));
    return message;
  }

  function say(id: string, delta: string, role = 'assistant'): undefined {
    if (id === '') throw new MalformedRun('it continues a message that it has not begun');
    openText = id;
    const message = messageOf(id, role);
    const said = typeof message.content === 'string' ? message.content : '';
    message.content = said + delta;
    grow(Buffer.byteLength(delta));
  }

  function startCall(id: string, name: string, parent: string | undefined): void {
    if (id === '') throw new MalformedRun('it makes a call without an id');
    openCall = id;
    if (callsById.has(id)) return;
    const message = messageOf(parent ?? id, 'assistant');
    const call = { id, type: 'function', function: { name, arguments: '' } };
    message.toolCalls = [...(message.toolCalls ?? []), call];
    callsById.set(id, call);
    grow(jsonBytes(call));
  }

  function addArguments(id: string, delta: string): void {
    const call = callsById.get(id);
    if (call === undefined) throw new MalformedRun('it names a call that it has not made');
    call.function.arguments += delta;
    grow(Buffer.byteLength(delta));
  }

  /** Marks the call's arguments as complete. Chunks have no event for this, so the event after them has the effect. */
  function endCall(id: string): void {
    const call = callsById.get(id);
    if (id === openCall) openCall = '';
    if (call === undefined || ended.has(id)) return;
    ended.add(id);
    made.push({ type: 'called', id, ...call.function });
  }

  function takeCallChunk({
    toolCallId = openCall,
    toolCallName,
    parentMessageId,
    delta = '',
  }: Extract<ReadEvent, { type: 'TOOL_CALL_CHUNK' }>): void {
    if (toolCallId !== openCall) endCall(openCall);
    if (toolCallName !== undefined) startCall(toolCallId, toolCallName, parentMessageId);
    openCall = toolCallId;
    addArguments(toolCallId, delta);
  }

  function takeResult({
    messageId,
    toolCallId,
    content,
  }: Extract<ReadEvent, { type: 'TOOL_CALL_RESULT' }>): void {
    endCall(toolCallId);
    const message = messageOf(messageId, 'tool');
    message.toolCallId = toolCallId;
    message.content = content;
    grow(jsonBytes(content ?? null));
    const text = typeof content === 'string' ? content : JSON.stringify(content ?? null);
    if (callsById.has(toolCallId)) made.push({ type: 'returned', id: toolCallId, content: text });
  }

  function patch(operations: Extract<ReadEvent, { type: 'STATE_DELTA' }>['delta']): void {
    let readBytes = 0;
    try {
      state = applyPatch(state, operations, (value) => {
        readBytes += jsonBytes(value ?? null);
        if (readBytes > bytesMax) throw new RemoteFault('too_large');
      });
      grow(jsonBytes(operations) + readBytes);
    } catch (error) {
      if (error instanceof PatchError) throw new MalformedRun('its state cannot be changed as it says');
      throw error;
    }
  }

  function finish(event: Extract<ReadEvent, { type: 'RUN_FINISHED' }>): AgUiRunEnd {
    endCall(openCall);
    const { outcome, result } = event;
    if (outcome?.type === 'cancelled') return { type: 'cancelled' };
    if (outcome?.type === 'interrupt') {
      const { interrupts } = outcome;
      measure(jsonBytes(interrupts));
      if (new Set(interrupts.map(({ id }) => id)).size < interrupts.length)
        throw new MalformedRun('it waits for two things by one id');
      // A call from a snapshot is shown before people are asked about it.
      for (const { toolCallId } of interrupts) endCall(toolCallId ?? '');
      return { type: 'interrupt', interrupts };
    }
    measure(jsonBytes(result ?? null));
    return { type: 'success', ...(result !== undefined && { result }) };
  }

  return {
    take(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START':
          return say(event.messageId, '', event.role);
        case 'TEXT_MESSAGE_CONTENT':
          return say(event.messageId, event.delta);
        case 'TEXT_MESSAGE_CHUNK':
          return say(event.messageId ?? openText, event.delta ?? '', event.role);
        case 'TOOL_CALL_START':
          startCall(event.toolCallId, event.toolCallName, event.parentMessageId);
          return undefined;
        case 'TOOL_CALL_ARGS':
          addArguments(event.toolCallId, event.delta);
          return undefined;
        case 'TOOL_CALL_END':
          endCall(event.toolCallId);
          return undefined;
        case 'TOOL_CALL_CHUNK':
          takeCallChunk(event);
          return undefined;
        case 'TOOL_CALL_RESULT':
          takeResult(event);
          return undefined;
        case 'STATE_SNAPSHOT':
          state = event.snapshot;
          grow(jsonBytes(state ?? null));
          return undefined;
        case 'STATE_DELTA':
          patch(event.delta);
          return undefined;
        case 'MESSAGES_SNAPSHOT':
          messages = event.messages;
          byId = new Map(messages.map((message) => [message.id, message]));
          callsById = callsOf(messages);
          grow(jsonBytes(messages));
          return undefined;
        case 'RUN_FINISHED':
          return finish(event);
        case 'RUN_ERROR':
          measure(jsonBytes([event.code, event.message]));
          return { type: 'error', code: event.code ?? '', message: event.message };
      }
    },
    calls: () => made.splice(0),
    get thread() {
      return { messages, state };
    },
  };
}

/** The agent's texts after the first message, which is the task. */
export function textOfThread({ messages }: Pick<AgUiThread, 'messages'>): string {
  return messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => (typeof content === 'string' ? content.trim() : ''))
    .filter((text) => text !== '')
    .join('\n\n')
    .toWellFormed();
}

/** Finds a call of a thread by its id. */
export function callOfThread({ messages }: Pick<AgUiThread, 'messages'>, id: string) {
  return callsOf(messages).get(id)?.function;
}

function callsOf(messages: readonly ThreadMessage[]) {
  return new Map(messages.flatMap(({ toolCalls = [] }) => toolCalls.map((call) => [call.id, call])));
}

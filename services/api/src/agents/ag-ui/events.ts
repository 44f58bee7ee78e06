import { z } from 'zod';

const Id = z.string().min(1).max(512);
const Delta = z.string();

/** Something for which a run waits. */
export const AgUiInterrupt = z.looseObject({
  id: Id,
  reason: z.string().catch(''),
  message: z.string().optional().catch(undefined),
  toolCallId: Id.optional().catch(undefined),
  responseSchema: z.record(z.string(), z.unknown()).optional().catch(undefined),
  expiresAt: z.string().optional().catch(undefined),
  metadata: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
export type AgUiInterrupt = z.infer<typeof AgUiInterrupt>;

const ThreadCall = z.looseObject({
  id: Id,
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});
/** A message of a thread. Members that Parley does not read are returned to the agent unchanged. */
export const ThreadMessage = z.looseObject({
  id: Id,
  role: z.string(),
  content: z.unknown().optional(),
  toolCalls: z.array(ThreadCall).optional(),
  toolCallId: z.string().optional(),
});
export type ThreadMessage = z.infer<typeof ThreadMessage>;

/** One operation of a JSON Patch (RFC 6902). */
export const PatchOperation = z.looseObject({
  op: z.enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
  path: z.string(),
  from: z.string().optional(),
  value: z.unknown().optional(),
});
export type PatchOperation = z.infer<typeof PatchOperation>;

const Outcome = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('success') }),
  z.looseObject({ type: z.literal('cancelled') }),
  z.looseObject({ type: z.literal('interrupt'), interrupts: z.array(AgUiInterrupt).min(1) }),
]);

/** The limit of operations in one event, because each operation may move all members of a list. */
const OPERATIONS_MAX = 2_000;

/** The events that matter to a delegating agent. All others are ignored. */
const EVENTS = {
  TEXT_MESSAGE_START: z.looseObject({ messageId: Id, role: z.string().default('assistant') }),
  TEXT_MESSAGE_CONTENT: z.looseObject({ messageId: Id, delta: Delta }),
  TEXT_MESSAGE_CHUNK: z.looseObject({
    messageId: Id.optional(),
    role: z.string().optional(),
    delta: Delta.optional(),
  }),
  TOOL_CALL_START: z.looseObject({
    toolCallId: Id,
    toolCallName: z.string(),
    parentMessageId: Id.optional(),
  }),
  TOOL_CALL_ARGS: z.looseObject({ toolCallId: Id, delta: Delta }),
  TOOL_CALL_END: z.looseObject({ toolCallId: Id }),
  TOOL_CALL_CHUNK: z.looseObject({
    toolCallId: Id.optional(),
    toolCallName: z.string().optional(),
    parentMessageId: Id.optional(),
    delta: Delta.optional(),
  }),
  TOOL_CALL_RESULT: z.looseObject({ messageId: Id, toolCallId: Id, content: z.unknown() }),
  STATE_SNAPSHOT: z.looseObject({ snapshot: z.unknown() }),
  STATE_DELTA: z.looseObject({ delta: z.array(PatchOperation).max(OPERATIONS_MAX) }),
  MESSAGES_SNAPSHOT: z.looseObject({ messages: z.array(ThreadMessage) }),
  RUN_FINISHED: z.looseObject({ outcome: Outcome.nullish(), result: z.unknown().optional() }),
  RUN_ERROR: z.looseObject({ message: z.string().default(''), code: z.string().optional() }),
} as const;

type EventType = keyof typeof EVENTS;
export type ReadEvent = {
  [Type in EventType]: { readonly type: Type } & z.infer<(typeof EVENTS)[Type]>;
}[EventType];

/** Reads the data of one event. Undefined for an ignored event. Throws MalformedRun. */
export function readAgUiEvent(data: unknown): ReadEvent | undefined {
  const { type } = (data ?? {}) as { readonly type?: unknown };
  if (typeof type !== 'string' || !Object.hasOwn(EVENTS, type)) return undefined;
  const read = EVENTS[type as EventType].safeParse(data);
  if (!read.success) throw new MalformedRun(`its event ${type} is not well formed`);
  return { ...read.data, type } as ReadEvent;
}

/** The events of an agent contradict each other or cannot be read. The message says why. */
export class MalformedRun extends Error {
  override readonly name = 'MalformedRun';
}

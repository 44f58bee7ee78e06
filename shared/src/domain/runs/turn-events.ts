import type { StreamEvent } from '@parley/core/domain/events';
import { z } from 'zod';
import { CLIENT_METHODS } from './client-request.ts';

/** Why a turn ended without an error. */
export const FINISH_REASONS = ['stop', 'length', 'step-limit', 'content-filter', 'stopped'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

const TurnStarted = z.looseObject({
  type: z.literal('turn-started'),
  conversationId: z.string(),
  /** The assistant message that this turn writes. */
  messageId: z.string(),
  agent: z.string(),
  /** What the message of the turn has beside its content, in the words of its surface, which alone reads it. */
  sent: z.unknown().optional(),
});
const StepStarted = z.looseObject({ type: z.literal('step-started'), step: z.int().nonnegative() });
const StepFinished = z.looseObject({ type: z.literal('step-finished'), step: z.int().nonnegative() });
/** The events of the named step so far are void: another pod appends them again from the step's beginning. */
const StepRestarted = z.looseObject({ type: z.literal('step-restarted'), step: z.int().nonnegative() });
/** Further text of a block. The first delta begins the block. Block ids are unique in a turn. */
const TextDelta = z.looseObject({ type: z.literal('text-delta'), block: z.string(), text: z.string() });
const TextFinished = z.looseObject({ type: z.literal('text-finished'), block: z.string() });
/** The model thinks: it reasons, or has said nothing for a while. The events do not say what it thinks. */
const ThinkingStarted = z.looseObject({ type: z.literal('thinking-started'), block: z.string() });
/** Absent where the step ends while the model thinks. */
const ThinkingFinished = z.looseObject({ type: z.literal('thinking-finished'), block: z.string() });
const ToolCalled = z.looseObject({
  type: z.literal('tool-called'),
  toolCallId: z.string(),
  toolName: z.string(),
  title: z.string().optional(),
  input: z.unknown(),
  /** The delegated agent that called it; absent for the turn's own agent. */
  agent: z.string().optional(),
});
/** The page of a server that shows a call, and what it is given of it. No model reads it. */
export const CallPage = z.looseObject({
  /** Names the call among those of all turns of its person. */
  pageId: z.string(),
  server: z.string(),
  /** The title of the server. */
  service: z.string(),
  /** The server's own name for the tool. */
  tool: z.string(),
  /** The server's own address of the page. */
  uri: z.string(),
  /** The result as the server sent it. */
  result: z.unknown(),
});
export type CallPage = z.infer<typeof CallPage>;
const ToolReturned = z.looseObject({
  type: z.literal('tool-returned'),
  toolCallId: z.string(),
  output: z.unknown(),
  page: CallPage.optional().catch(undefined),
});
/** The tool gave no result. `message` states what happened, for people and models. It contains no secret. */
const ToolFailed = z.looseObject({
  type: z.literal('tool-failed'),
  toolCallId: z.string(),
  message: z.string(),
  /** The error of the tool's server, as it sent it. Sent for runs of one call only. */
  refusal: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
  page: CallPage.optional().catch(undefined),
});
/** How far a call has come, in the words of its server. Sent for runs of one call only; readers may ignore it. */
const ToolProgress = z.looseObject({
  type: z.literal('tool-progress'),
  toolCallId: z.string(),
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
});
/** The levels of log messages (RFC 5424), the least severe first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
/** A log message of a call's server for the client of the call. Sent for runs of one call only; readers may ignore it. */
const ToolLog = z.looseObject({
  type: z.literal('tool-log'),
  toolCallId: z.string(),
  level: z.enum(LOG_LEVELS),
  logger: z.string().optional(),
  data: z.unknown(),
});
/** Text of a call so far, while it goes on. Each event replaces the one before; readers may ignore it. */
const ToolPartial = z.looseObject({
  type: z.literal('tool-partial'),
  toolCallId: z.string(),
  text: z.string(),
});
/** A call's server asks the client of the call for something that no person is asked. Sent where the client declared it. */
const ClientAsked = z.looseObject({
  type: z.literal('client-asked'),
  toolCallId: z.string(),
  /** The same for the same request, whichever pod asks it. */
  requestId: z.string(),
  method: z.enum(CLIENT_METHODS),
  params: z.record(z.string(), z.unknown()),
  /** When the call goes on without a reply, in ms since 1970 on the clock of the questions. */
  expiresAt: z.number(),
});
/** Nothing waits for the reply any more. */
const ClientAskEnded = z.looseObject({
  type: z.literal('client-ask-ended'),
  toolCallId: z.string(),
  requestId: z.string(),
  /** True where the reply of the client ended it. */
  isAnswered: z.boolean(),
});
/** For clients that cannot show a question: a tool needs the user's own account, and the call was not made. */
const ToolAuthRequired = z.looseObject({
  type: z.literal('tool-auth-required'),
  toolCallId: z.string(),
  toolId: z.string(),
  toolName: z.string(),
  /** The service of the account, by its name for people. */
  service: z.string(),
  message: z.string(),
});
/** A delegate's run has `waits` waits under way. While there are any, the clocks of the delegating runs are paused. */
const RunPaused = z.looseObject({ type: z.literal('run-paused'), waits: z.int().positive() });
const RunResumed = z.looseObject({ type: z.literal('run-resumed'), waits: z.int().nonnegative() });
/**
 * No pod owns the turn any more. Where it waits for its person, streams end here, and the answer has a pod resume it. `continues`: it
 * waits for nobody and is resumed by itself, so streams go on.
 */
const TurnDetached = z.looseObject({
  type: z.literal('turn-detached'),
  continues: z.literal(true).optional().catch(undefined),
});
/** A pod has resumed a turn that was detached. */
const TurnAttached = z.looseObject({ type: z.literal('turn-attached') });
const Usage = z.looseObject({ inputTokens: z.int().optional(), outputTokens: z.int().optional() });
const TurnFinished = z.looseObject({
  type: z.literal('turn-finished'),
  reason: z.enum(FINISH_REASONS),
  usage: Usage.optional(),
});
/** The turn ended with an error. `message` is for people. */
const TurnFailed = z.looseObject({
  type: z.literal('turn-failed'),
  code: z.string(),
  message: z.string(),
  usage: Usage.optional(),
});

/**
 * The events that a turn appends to the feed of its stream request. They do not depend on the format that a reader
 * wants. A turn ends with exactly one `turn-finished` or `turn-failed`.
 */
export const TurnEvent = z.discriminatedUnion('type', [
  TurnStarted,
  StepStarted,
  StepFinished,
  StepRestarted,
  TextDelta,
  TextFinished,
  ThinkingStarted,
  ThinkingFinished,
  ToolCalled,
  ToolReturned,
  ToolFailed,
  ToolProgress,
  ToolLog,
  ToolPartial,
  ClientAsked,
  ClientAskEnded,
  ToolAuthRequired,
  RunPaused,
  RunResumed,
  TurnDetached,
  TurnAttached,
  TurnFinished,
  TurnFailed,
]);
export type TurnEvent = z.infer<typeof TurnEvent>;

/** Parses a turn event. Undefined for an event of another or a newer type. */
export function turnEventOf(event: StreamEvent): TurnEvent | undefined {
  const read = TurnEvent.safeParse(event);
  return read.success ? read.data : undefined;
}

/** True for the event that ends a turn. */
export function endsTurn(event: TurnEvent): boolean {
  return event.type === 'turn-finished' || event.type === 'turn-failed';
}

/** True where no pod owns the turn any more until its person, or somebody else, has done something. Streams end here. */
export function waitsForPerson(event: TurnEvent | undefined): boolean {
  return event?.type === 'turn-detached' && event.continues !== true;
}

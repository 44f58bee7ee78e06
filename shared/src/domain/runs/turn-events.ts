/**
 * The events that a turn appends to its feed, in one neutral form, so that every surface encodes the same turn. The encodings
 * are in the surfaces, and events of questions and approvals are in `clients/core`.
 */

import type { StreamEvent } from '@parley/core/domain/events';
import { z } from 'zod';
import { CLIENT_METHODS } from './client-request.ts';

/** Why a turn ended without an error. */
export const FINISH_REASONS = ['stop', 'length', 'step-limit', 'content-filter', 'stopped'] as const;
export type FinishReason = (typeof FINISH_REASONS)[number];

const TurnStarted = z.looseObject({
  type: z.literal('turn-started'),
  conversationId: z.string(),
  /** The id of the assistant message that this turn writes. */
  messageId: z.string(),
  agent: z.string(),
  /** Further fields of the turn's message, which only its surface reads. */
  sent: z.unknown().optional(),
});
const StepStarted = z.looseObject({ type: z.literal('step-started'), step: z.int().nonnegative() });
const StepFinished = z.looseObject({ type: z.literal('step-finished'), step: z.int().nonnegative() });
/** All events of this step so far are void. Another pod will write the step again from its beginning. */
const StepRestarted = z.looseObject({ type: z.literal('step-restarted'), step: z.int().nonnegative() });
/** More text of a block. The first delta begins the block. Block ids are unique in a turn. */
const TextDelta = z.looseObject({ type: z.literal('text-delta'), block: z.string(), text: z.string() });
const TextFinished = z.looseObject({ type: z.literal('text-finished'), block: z.string() });
/** The model is reasoning, or has been silent for a while. The events do not contain its reasoning. */
const ThinkingStarted = z.looseObject({ type: z.literal('thinking-started'), block: z.string() });
/** The model has stopped reasoning. The event is absent when the step ends first. */
const ThinkingFinished = z.looseObject({ type: z.literal('thinking-finished'), block: z.string() });
const ToolCalled = z.looseObject({
  type: z.literal('tool-called'),
  toolCallId: z.string(),
  toolName: z.string(),
  title: z.string().optional(),
  input: z.unknown(),
  /** The delegated agent that made the call; absent for the turn's own agent. */
  agent: z.string().optional(),
});
/** The server's page that displays a call, and the data that it receives. No model reads it. */
export const CallPage = z.looseObject({
  /** Identifies the call among the calls of all turns of its person. */
  pageId: z.string(),
  server: z.string(),
  /** The title of the server. */
  service: z.string(),
  /** The server's own name for the tool. */
  tool: z.string(),
  /** The server's own address of the page. */
  uri: z.string(),
  /** The unchanged result of the server. */
  result: z.unknown(),
});
export type CallPage = z.infer<typeof CallPage>;
const ToolReturned = z.looseObject({
  type: z.literal('tool-returned'),
  toolCallId: z.string(),
  output: z.unknown(),
  page: CallPage.optional().catch(undefined),
});
/** The tool returned no result. `message` says what happened, for people and models, and contains no secret. */
const ToolFailed = z.looseObject({
  type: z.literal('tool-failed'),
  toolCallId: z.string(),
  message: z.string(),
  /** The unchanged error of the tool's server. Only in runs that consist of one call. */
  refusal: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
  page: CallPage.optional().catch(undefined),
});
/** The progress of a call, in the words of its server. Only in runs that consist of one call; readers may ignore it. */
const ToolProgress = z.looseObject({
  type: z.literal('tool-progress'),
  toolCallId: z.string(),
  progress: z.number(),
  total: z.number().optional(),
  message: z.string().optional(),
});
/** The levels of log messages (RFC 5424), least severe first. */
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
/**
 * A log message from a call's server to the client of the call. Only in runs that consist of one call; readers may ignore it.
 */
const ToolLog = z.looseObject({
  type: z.literal('tool-log'),
  toolCallId: z.string(),
  level: z.enum(LOG_LEVELS),
  logger: z.string().optional(),
  data: z.unknown(),
});
/** The text of an unfinished call so far. Each event replaces the previous one; readers may ignore it. */
const ToolPartial = z.looseObject({
  type: z.literal('tool-partial'),
  toolCallId: z.string(),
  text: z.string(),
});
/** A server requests something from the client of the call, not from a person. Sent only if the client declared support. */
const ClientAsked = z.looseObject({
  type: z.literal('client-asked'),
  toolCallId: z.string(),
  /** Identifies the request. A repeat by another pod has the same id. */
  requestId: z.string(),
  method: z.enum(CLIENT_METHODS),
  params: z.record(z.string(), z.unknown()),
  /** When the call continues without a reply, in ms since 1970 on the clock of the records. */
  expiresAt: z.number(),
});
/** The reply is no longer awaited. */
const ClientAskEnded = z.looseObject({
  type: z.literal('client-ask-ended'),
  toolCallId: z.string(),
  requestId: z.string(),
  /** True when a reply of the client ended the wait. */
  isAnswered: z.boolean(),
});
/** Tells a client that cannot display questions that a tool needs the user's own account, so that the call was not made. */
const ToolAuthRequired = z.looseObject({
  type: z.literal('tool-auth-required'),
  toolCallId: z.string(),
  toolId: z.string(),
  toolName: z.string(),
  /** The readable name of the service where the account is. */
  service: z.string(),
  message: z.string(),
});
/** A delegate's run now waits for `waits` things. The clocks of the delegating runs are paused while it waits for any. */
const RunPaused = z.looseObject({ type: z.literal('run-paused'), waits: z.int().positive() });
const RunResumed = z.looseObject({ type: z.literal('run-resumed'), waits: z.int().nonnegative() });
/**
 * No pod owns the turn any more. If it waits for its person, streams end here, and the answer lets a pod resume it. With
 * `continues`, it waits for nobody and resumes by itself, so streams stay open.
 */
const TurnDetached = z.looseObject({
  type: z.literal('turn-detached'),
  continues: z.literal(true).optional().catch(undefined),
});
/** A pod has resumed a detached turn. */
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
 * The events that a turn appends to the feed of its stream request, independent of any reader's format. A turn ends with
 * exactly one `turn-finished` or `turn-failed`.
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

/** Parses a turn event. Undefined for an event of another kind, or of a type that is newer than this build. */
export function turnEventOf(event: StreamEvent): TurnEvent | undefined {
  const read = TurnEvent.safeParse(event);
  return read.success ? read.data : undefined;
}

/** True for the event that ends a turn. */
export function endsTurn(event: TurnEvent): boolean {
  return event.type === 'turn-finished' || event.type === 'turn-failed';
}

/** True for an event after which no pod owns the turn until a person or another party acts. Streams end here. */
export function waitsForPerson(event: TurnEvent | undefined): boolean {
  return event?.type === 'turn-detached' && event.continues !== true;
}

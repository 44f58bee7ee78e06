import type { Owner, StreamRef } from '@parley/core/domain/ids';
import { NotifyRules } from '@parley/core/domain/notify';
import { z } from 'zod';
import { ClientServices } from './client-request.ts';

/** One conversation of a person. The client chose its id. */
export interface ConversationRef extends Owner {
  readonly conversationId: string;
}

/** One turn in its conversation. */
export interface RunRef extends StreamRef {
  readonly conversationId: string;
}

/**
 * One message of a conversation as the model reads it. Only the role is checked here; the content belongs to the agents
 * and passes unchanged.
 */
export const Message = z.looseObject({ role: z.enum(['user', 'assistant', 'tool']) });
export type Message = z.infer<typeof Message>;

/** A message in the history of its conversation. */
export const RememberedMessage = Message.extend({
  /** The stream request of the turn that added it; absent for messages that earlier versions stored. */
  turn: z.string().optional(),
  /** Present for a reply that was not finished, because its turn was stopped or failed. */
  isCut: z.literal(true).optional(),
  /** Present where the model answered this message only without the images of the messages before it. */
  areEarlierImagesRefused: z.literal(true).optional(),
});
export type RememberedMessage = z.infer<typeof RememberedMessage>;

/** The outcome of one step of the loop: the assistant's message, then the results of its tool calls. */
export const StepRecord = z.looseObject({
  messages: z.array(Message),
  finishReason: z.string(),
  inputTokens: z.int().optional(),
  outputTokens: z.int().optional(),
  /** An estimate by the size of the texts, for quotas; only where the model reports no tokens. */
  estimatedTokens: z.int().optional(),
  /** Tokens that the run and its delegates had used by the end of this step. */
  used: z.looseObject({ inputTokens: z.int().optional(), outputTokens: z.int().optional() }).optional(),
  /** Working time of the run by the end of this step, in ms. */
  workedMs: z.number().optional(),
  /** How long the model took for this step, in ms. */
  modelMs: z.number().optional(),
});
export type StepRecord = z.infer<typeof StepRecord>;

/** How a person let a call be made. */
export const CallApproval = z.looseObject({
  /** The approval; for a remembered one, the approval that was remembered. */
  id: z.string(),
  /** `approved`, `edited` or `remembered`. */
  outcome: z.string(),
  /** The arguments that a person edited: these are sent. */
  input: z.unknown().optional(),
});
export type CallApproval = z.infer<typeof CallApproval>;

/**
 * A tool call, recorded before it is sent, so that the next owner of the run knows what may have happened. `intended`:
 * it has not been sent. `dispatched`: it has been sent and its outcome is unknown. `returned` and `failed`: its outcome
 * is recorded.
 */
export const CallRecord = z.looseObject({
  toolCallId: z.string(),
  toolName: z.string(),
  step: z.int().nonnegative(),
  /** Ordinal of the call within its step, from 0. */
  at: z.int().nonnegative().optional(),
  /** The id that the model gave it; not always unique. */
  modelCallId: z.string().optional(),
  /** Why the call cannot be made. */
  fault: z.string().optional(),
  state: z.enum(['intended', 'dispatched', 'returned', 'failed']),
  /** Present once a call that needed an approval has it. */
  approval: CallApproval.optional(),
  /** The outcome as the model reads it. */
  output: z.unknown().optional(),
  /** Present for a failed call after which the turn ends without another step. */
  endsTurn: z.literal(true).optional(),
  /** For a call that delegates: the stream request of the delegate's run. */
  run: z.string().optional(),
  /**
   * How another pod continues the call. For an MCP server that has asked the person (2026-07-28): its questions and its
   * state, sealed; the call has had no effect so far. For a remote A2A agent: the ids of its task, and what is settled. For an AG-UI agent: its thread, and what it waits for.
   */
  round: z.string().optional(),
  /** The MCP server of a sealed round, without which it cannot be sealed anew. */
  roundServer: z.string().optional(),
});
export type CallRecord = z.infer<typeof CallRecord>;

/** One wait for a person. Times are ms on the Redis clock. Without `resumedAt` the wait has not ended. */
export const PauseRecord = z.looseObject({
  elicitationId: z.string(),
  toolCallId: z.string().optional(),
  trigger: z.string(),
  pausedAt: z.number(),
  resumedAt: z.number().optional(),
  /** The elicitation's status when the run continued. */
  outcome: z.string().optional(),
});
export type PauseRecord = z.infer<typeof PauseRecord>;

/** The call by which another run delegated to this one. */
export const ParentCall = z.looseObject({ streamRequestId: z.string(), toolCallId: z.string() });
export type ParentCall = z.infer<typeof ParentCall>;

/** The kinds of questions that the person's client can show in a turn. */
export const Support = z.looseObject({
  form: z.boolean(),
  url: z.boolean(),
  /** The kinds of fields (`FieldKind`) that its forms can show; every kind when absent. Unknown kinds are kept. */
  fieldKinds: z.array(z.string()).optional(),
  /** Present when its forms must not take sensitive answers, as MCP demands. */
  sensitiveForms: z.literal(false).optional(),
  /** What its client does for MCP servers itself. Absent: nothing. */
  services: ClientServices.optional(),
  /** Present when its surface tells it the address of the hosted page of each question that it cannot show. */
  tellsPages: z.literal(true).optional().catch(undefined),
  /** Present when the turn has no person: then no question is asked or recorded. */
  unattended: z.literal(true).optional(),
  /** Present when the client shows the pages of MCP servers, and keeps from its model the tools that only these may call. */
  apps: z.literal(true).optional().catch(undefined),
  /** Present when the client shows the pages of MCP servers with the calls of an agent. */
  pages: z.literal(true).optional().catch(undefined),
  /** How many deployments have delegated the turn, one to the next, through A2A or AG-UI. Absent: none. */
  hops: z.int().positive().optional().catch(undefined),
});
export type Support = z.infer<typeof Support>;

/** What a delegate needs of the turn that it works for, so that any pod can do the work. */
export const DelegateRequest = z.looseObject({
  /** The turn's own run. Every question belongs to its stream request and its conversation. */
  turn: z.looseObject({ streamRequestId: z.string(), conversationId: z.string() }),
  /** The delegating call on the turn's stream. Records of earlier builds are without it. */
  shownId: z.string().optional(),
  /** Number of agents between the delegating agent and the person. */
  depth: z.int().nonnegative(),
  /** Tokens that the delegate may use: its part of those that the delegating agent had left. */
  tokens: z.int().nonnegative(),
  /** How a channel notifies the person of its questions. A pod without this field, or with other rules, asks without. */
  notify: NotifyRules.optional().catch(undefined),
});
export type DelegateRequest = z.infer<typeof DelegateRequest>;

/** The owner of a run that any pod may claim. No pod has this name. */
export const UNOWNED = 'unowned';

/** The owner of a run that waits for questions or delegates' runs and occupies no pod. Their end has it resumed. */
export const DETACHED = 'detached';

/** How a turn waits for its person: its pod holds it for a while, or detaches it at once. */
export const DELIVERIES = ['hold', 'detach'] as const;
export type Delivery = (typeof DELIVERIES)[number];

export const RUN_STATUSES = ['running', 'finished', 'failed', 'stopped'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** How a run can end. */
export type EndStatus = Exclude<RunStatus, 'running'>;

/** Identifies the request that began a run. It distinguishes a repeat from another request under the same key. */
export interface RunRequest {
  /** Digest of the request's content. */
  readonly digest: string;
  /** Identifies the one call that begins the run. It stays the same when that call is sent again. */
  readonly nonce: string;
}

/** State and owner of a run: enough to decide whether a pod works on it. */
export interface RunStanding {
  readonly conversationId: string;
  readonly status: RunStatus;
  /** The pod that writes it, `UNOWNED` or `DETACHED`. */
  readonly owner: string;
  /** Fencing token: rises by one with every change of owner. Writes under another term are refused. */
  readonly term: number;
  /**
   * How many owners died soon after they got it, since one died late and the run had finished a step. A pod that releases
   * or detaches it has not died.
   */
  readonly deaths: number;
  /** How many owners have died in all: pods took it over from pods. */
  readonly takeOvers: number;
  /** The call of another run that it works for; absent for a person's turn. */
  readonly parent?: ParentCall;
}

/** A run without what was said and done in it, for lists. */
export interface RunHead extends RunRef, RunStanding {
  readonly agent: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Until when a detached run rests at most. */
  readonly restsUntil?: number;
  /** Present once the run was asked to stop. */
  readonly isStopping?: true;
}

/** One write of an entry: ms on the Redis clock, and the term of the owner that wrote it. */
export interface EntryStamp {
  readonly at: number;
  readonly term: number;
}

/** One owner of a run: a pod, `UNOWNED` or `DETACHED`. */
export interface Ownership {
  readonly term: number;
  readonly owner: string;
  /** ms on the Redis clock. */
  readonly since: number;
}

/** What shows how long a run took, and where. It decides nothing. */
export interface RunTimes {
  /** Its owners so far, first to last. */
  readonly owners: readonly Ownership[];
  /** The first and the last write of each step, by its index. */
  readonly steps: ReadonlyMap<number, readonly [first: EntryStamp, last: EntryStamp]>;
  /** The first and the last write of each call, by its id. */
  readonly calls: ReadonlyMap<string, readonly [first: EntryStamp, last: EntryStamp]>;
}

/** One turn of an agent, kept so that any pod can continue it. */
export interface Run extends RunRef, RunStanding {
  readonly agent: string;
  /** Present for a delegate's run. */
  readonly delegateRequest?: DelegateRequest;
  readonly support: Support;
  readonly delivery: Delivery;
  /** Present where the run's conversation is in no list. */
  readonly unlisted?: true;
  /** The parent of the turn's spans (W3C Trace Context); absent when the turn is not traced. */
  readonly traceparent?: string;
  /** Number of the last event that the owners of the run appended. The next write continues from it. */
  readonly writerSeq: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** Until when the run rested, if it was last detached for a time. */
  readonly restsUntil?: number | undefined;
  /**
   * What the turn answers: the new messages of its request, after the earlier ones as the client knows them where Parley
   * did not know the conversation.
   */
  readonly input: readonly Message[];
  readonly steps: readonly StepRecord[];
  readonly calls: readonly CallRecord[];
  readonly pauses: readonly PauseRecord[];
  readonly times: RunTimes;
}

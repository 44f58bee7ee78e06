/**
 * The stored forms of turns, runs and conversations, shared by both back ends. Commands and their rules are in `commands.ts`
 * and `transition.ts`; the events of a turn are in `turn-events.ts`.
 */

import type { Owner, StreamRef } from '@parley/core/domain/ids';
import { NotifyRules } from '@parley/core/domain/notify';
import { z } from 'zod';
import { ClientServices } from './client-request.ts';

/** A conversation of a person. Its id is chosen by the client. */
export interface ConversationRef extends Owner {
  readonly conversationId: string;
}

/** A turn in its conversation. */
export interface RunRef extends StreamRef {
  readonly conversationId: string;
}

/**
 * A message of a conversation in the form that the model reads. Only the role is checked here; agents own the content, which is
 * passed on unchanged.
 */
export const Message = z.looseObject({ role: z.enum(['user', 'assistant', 'tool']) });
export type Message = z.infer<typeof Message>;

/** A message in the history of its conversation. */
export const RememberedMessage = Message.extend({
  /** The stream request of the turn that added the message; absent on messages from earlier versions. */
  turn: z.string().optional(),
  /** Present on an incomplete reply, whose turn was stopped or failed. */
  isCut: z.literal(true).optional(),
  /** Present when the model accepted this message only after the images of earlier messages were left out. */
  areEarlierImagesRefused: z.literal(true).optional(),
});
export type RememberedMessage = z.infer<typeof RememberedMessage>;

/** The outcome of one step of the loop: the assistant's message, and then the results of its tool calls. */
export const StepRecord = z.looseObject({
  messages: z.array(Message),
  finishReason: z.string(),
  inputTokens: z.int().optional(),
  outputTokens: z.int().optional(),
  /** The estimated tokens of the step's texts, for quotas; present only when the model reports no tokens. */
  estimatedTokens: z.int().optional(),
  /** The tokens that the run and its delegates had used by the end of this step. */
  used: z.looseObject({ inputTokens: z.int().optional(), outputTokens: z.int().optional() }).optional(),
  /** The working time of the run by the end of this step, in ms. */
  workedMs: z.number().optional(),
  /** The duration of the model call of this step, in ms. */
  modelMs: z.number().optional(),
});
export type StepRecord = z.infer<typeof StepRecord>;

/** How a person permitted a call. */
export const CallApproval = z.looseObject({
  /** The id of the approval; for a remembered approval, the id of the original one. */
  id: z.string(),
  /** `approved`, `edited` or `remembered`. */
  outcome: z.string(),
  /** The arguments as the person edited them; these are sent. */
  input: z.unknown().optional(),
});
export type CallApproval = z.infer<typeof CallApproval>;

/**
 * A tool call. It is recorded before it is sent, so that the run's next owner knows what may have happened. `intended`: the
 * call has not been sent. `dispatched`: it was sent, and its outcome is unknown. `returned` and `failed`: its outcome is
 * recorded.
 */
export const CallRecord = z.looseObject({
  toolCallId: z.string(),
  toolName: z.string(),
  step: z.int().nonnegative(),
  /** Ordinal of the call within its step, from 0. */
  at: z.int().nonnegative().optional(),
  /** The id that the model gave to the call. Models may repeat ids. */
  modelCallId: z.string().optional(),
  /** Why the call cannot be made. */
  fault: z.string().optional(),
  state: z.enum(['intended', 'dispatched', 'returned', 'failed']),
  /** Present once the required approval was given. */
  approval: CallApproval.optional(),
  /** The outcome in the form that the model reads. */
  output: z.unknown().optional(),
  /** Present on a failed call that ends the turn without another step. */
  endsTurn: z.literal(true).optional(),
  /** The stream request of the delegate's run; present on a delegating call. */
  run: z.string().optional(),
  /**
   * What another pod needs to continue the call. For an MCP server that has asked the person (2026-07-28), the sealed questions
   * and state; such a call has had no effect so far. For a remote A2A agent, the ids of its task and the settled questions. For
   * an AG-UI agent, its thread and what it waits for.
   */
  round: z.string().optional(),
  /** The MCP server of a sealed round; resealing needs it. */
  roundServer: z.string().optional(),
});
export type CallRecord = z.infer<typeof CallRecord>;

/** One wait for a person. Times are in ms on the Redis clock. Without `resumedAt`, the wait has not ended. */
export const PauseRecord = z.looseObject({
  elicitationId: z.string(),
  toolCallId: z.string().optional(),
  trigger: z.string(),
  pausedAt: z.number(),
  resumedAt: z.number().optional(),
  /** The status of the elicitation when the run continued. */
  outcome: z.string().optional(),
});
export type PauseRecord = z.infer<typeof PauseRecord>;

/** The call of another run that delegated to this one. */
export const ParentCall = z.looseObject({ streamRequestId: z.string(), toolCallId: z.string() });
export type ParentCall = z.infer<typeof ParentCall>;

/** The questions that the person's client can display in a turn. */
export const Support = z.looseObject({
  form: z.boolean(),
  url: z.boolean(),
  /** The kinds of form fields (`FieldKind`) that the client can display; all kinds when absent. Unknown kinds are kept. */
  fieldKinds: z.array(z.string()).optional(),
  /** Present when forms of the client must not take sensitive answers, as MCP requires. */
  sensitiveForms: z.literal(false).optional(),
  /** The services that the client itself offers to MCP servers; none when absent. */
  services: ClientServices.optional(),
  /**
   * Present when the surface tells the client the address of the hosted page of each question that the client cannot display.
   */
  tellsPages: z.literal(true).optional().catch(undefined),
  /** Present when the turn has no person. Then no question is asked or recorded. */
  unattended: z.literal(true).optional(),
  /**
   * Present when the client can display pages of MCP servers, and hides from its model the tools that only those pages may
   * call.
   */
  apps: z.literal(true).optional().catch(undefined),
  /** Present when the client displays pages of MCP servers for the calls of an agent. */
  pages: z.literal(true).optional().catch(undefined),
  /** The number of deployments that have delegated the turn in a chain, through A2A or AG-UI; none when absent. */
  hops: z.int().positive().optional().catch(undefined),
});
export type Support = z.infer<typeof Support>;

/** What a delegate needs to know of the turn for which it works, so that any pod can run it. */
export const DelegateRequest = z.looseObject({
  /** The ids of the person's turn. Every question of the delegate belongs to this stream request and conversation. */
  turn: z.looseObject({ streamRequestId: z.string(), conversationId: z.string() }),
  /** The id of the delegating call in the turn's stream. Absent in records of earlier builds. */
  shownId: z.string().optional(),
  /** The number of agents between the delegating agent and the person. */
  depth: z.int().nonnegative(),
  /** The delegate's token budget: its share of what the delegating agent had left. */
  tokens: z.int().nonnegative(),
  /** How a channel notifies the person of the delegate's questions. A pod that cannot read these rules asks without them. */
  notify: NotifyRules.optional().catch(undefined),
});
export type DelegateRequest = z.infer<typeof DelegateRequest>;

/** The owner of a run that any pod may claim. No pod can have this name. */
export const UNOWNED = 'unowned';

/** The owner of a run that occupies no pod while it waits for questions or delegates' runs. The end of a wait resumes it. */
export const DETACHED = 'detached';

/** How a turn waits for its person: `hold` keeps it on its pod for a while, `detach` frees the pod at once. */
export const DELIVERIES = ['hold', 'detach'] as const;
export type Delivery = (typeof DELIVERIES)[number];

export const RUN_STATUSES = ['running', 'finished', 'failed', 'stopped'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** How a run can end. */
export type EndStatus = Exclude<RunStatus, 'running'>;

/** Identifies the request that began a run, to distinguish a repeat from a different request under the same key. */
export interface RunRequest {
  /** The digest of the request's content. */
  readonly digest: string;
  /** Identifies one call that begins the run. A call that is sent again has the same nonce. */
  readonly nonce: string;
}

/** The state and owner of a run, from which a pod decides whether to work on it. */
export interface RunStanding {
  readonly conversationId: string;
  readonly status: RunStatus;
  /** The id of the pod that writes the run, `UNOWNED` or `DETACHED`. */
  readonly owner: string;
  /** The fencing token. It rises by one with every change of owner, and writes under another term are refused. */
  readonly term: number;
  /**
   * The number of owners that died soon after taking the run. The count restarts when an owner that finished a step dies later
   * than that. Releasing or detaching a run does not count as a death.
   */
  readonly deaths: number;
  /** The number of all owners that have died, each of which led to a take-over. */
  readonly takeOvers: number;
  /** The call of another run for which this run works; absent for a person's turn. */
  readonly parent?: ParentCall;
}

/** A run without its content, for lists. */
export interface RunHead extends RunRef, RunStanding {
  readonly agent: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** When a detached run is resumed at the latest. */
  readonly restsUntil?: number;
  /** Present after a stop was requested. */
  readonly isStopping?: true;
}

/** When an entry was written (ms on the Redis clock), and the term of the owner that wrote it. */
export interface EntryStamp {
  readonly at: number;
  readonly term: number;
}

/** A period with one owner: a pod, `UNOWNED` or `DETACHED`. */
export interface Ownership {
  readonly term: number;
  readonly owner: string;
  /** When the period began, in ms on the Redis clock. */
  readonly since: number;
}

/** How long the parts of a run took, and on which pods. For display only; no decision depends on it. */
export interface RunTimes {
  /** All owners so far, oldest first. */
  readonly owners: readonly Ownership[];
  /** The first and the last write of each step, by the step's index. */
  readonly steps: ReadonlyMap<number, readonly [first: EntryStamp, last: EntryStamp]>;
  /** The first and the last write of each call, by the call's id. */
  readonly calls: ReadonlyMap<string, readonly [first: EntryStamp, last: EntryStamp]>;
}

/** A turn of an agent as stored, so that any pod can continue it. */
export interface Run extends RunRef, RunStanding {
  readonly agent: string;
  /** Present on a delegate's run. */
  readonly delegateRequest?: DelegateRequest;
  readonly support: Support;
  readonly delivery: Delivery;
  /** Present when the run's conversation is in no list. */
  readonly unlisted?: true;
  /** The parent of the turn's spans (W3C Trace Context); absent when the turn is not traced. */
  readonly traceparent?: string;
  /** The sequence number of the last event that the run's owners appended. The next write continues from it. */
  readonly writerSeq: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  /** The resume time of the run's last detachment, if it had one. */
  readonly restsUntil?: number | undefined;
  /**
   * The messages that the turn answers: the new ones of its request. If Parley did not know the conversation, the client's copy
   * of the earlier messages precedes them.
   */
  readonly input: readonly Message[];
  readonly steps: readonly StepRecord[];
  readonly calls: readonly CallRecord[];
  readonly pauses: readonly PauseRecord[];
  readonly times: RunTimes;
}

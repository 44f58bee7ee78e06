/** Shows how long the parts of a turn took, and where. It reads stored records only, and no content. */

import type { StreamRef } from '@parley/core/domain/ids';
import {
  type ConversationRef,
  DETACHED,
  type EntryStamp,
  RUN_STATUSES,
  type Run,
  UNOWNED,
} from '@parley/shared/domain/runs/run';
import type { Conversations } from '@parley/shared/ports/runs/conversations';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { z } from 'zod';

const Span = {
  startedAt: z.iso.datetime().describe('On the Redis clock.'),
  endedAt: z.iso.datetime().optional().describe('Absent while it lasts.'),
  durationMs: z.int().nonnegative().optional(),
};
const Pod = z.string().describe('The pod, as PARLEY_POD names it.');

const OwnerSpan = z.object({
  ...Span,
  state: z.enum(['owned', 'queued', 'detached']),
  pod: Pod.optional(),
  term: z.int(),
});
const StepSpan = z.object({
  ...Span,
  index: z.int(),
  pod: Pod.optional(),
  finishReason: z.string(),
  inputTokens: z.int().optional(),
  outputTokens: z.int().optional(),
});
const CallSpan = z.object({
  ...Span,
  toolCallId: z.string(),
  toolName: z.string(),
  step: z.int(),
  state: z.enum(['intended', 'dispatched', 'returned', 'failed']),
  pod: Pod.optional().describe('The pod that wrote its last state.'),
  delegate: z.string().optional().describe('Stream request of the run that works on a delegated task.'),
});
const WaitSpan = z.object({
  ...Span,
  elicitationId: z.string(),
  trigger: z.string(),
  toolCallId: z.string().optional(),
  outcome: z.string().optional(),
});
const RunTimeline = z.object({
  ...Span,
  streamRequestId: z.string(),
  agent: z.string(),
  status: z.enum(RUN_STATUSES),
  parent: z.object({ streamRequestId: z.string(), toolCallId: z.string() }).optional(),
  owners: z.array(OwnerSpan),
  steps: z.array(StepSpan),
  calls: z.array(CallSpan),
  waits: z.array(WaitSpan),
});
type RunTimeline = z.infer<typeof RunTimeline>;

/** How long the parts of a turn took, and on which pods. It contains no text, input or answer. */
export const Timeline = z.object({
  conversationId: z.string(),
  runs: z.array(RunTimeline).describe("The turn's own run first, then the runs of its delegates."),
});
export type Timeline = z.infer<typeof Timeline>;

interface TimelineDeps {
  readonly conversations: Pick<Conversations, 'read'>;
  readonly runs: Pick<Runs, 'read'>;
}

// The maximum number of runs in a timeline. Delegates may delegate too; a turn with more runs shows the first.
const RUNS_MAX = 50;

/**
 * The timeline of the conversation's running or last turn. Undefined if there is none or its retention has ended. Throws
 * `unavailable`.
 */
export async function readTimeline(
  deps: TimelineDeps,
  conversation: ConversationRef,
): Promise<Timeline | undefined> {
  const { running, last } = await deps.conversations.read(conversation);
  const streamRequestId = running ?? last?.streamRequestId;
  if (streamRequestId === undefined) return undefined;
  return readTurnTimeline(deps, { ...conversation, streamRequestId });
}

/** The timeline of a given turn. Undefined once its retention has ended. Throws `unavailable`. */
export async function readTurnTimeline(
  deps: Pick<TimelineDeps, 'runs'>,
  { tenant, userId, streamRequestId }: StreamRef,
): Promise<Timeline | undefined> {
  const runs: RunTimeline[] = [];
  let conversationId = '';
  const waiting = [streamRequestId];
  for (const next of waiting) {
    const { run, now } = await deps.runs.read({ tenant, userId, streamRequestId: next });
    if (run === undefined) continue;
    if (runs.length === 0) conversationId = run.conversationId;
    runs.push(runTimeline(run, now));
    for (const call of run.calls) {
      if (call.run !== undefined && waiting.length < RUNS_MAX) waiting.push(call.run);
    }
  }
  return runs.length === 0 ? undefined : { conversationId, runs };
}

function runTimeline(run: Run, now: number): RunTimeline {
  const { streamRequestId, agent, status, parent, startedAt, endedAt, times } = run;
  const podAt = (stamp: EntryStamp | undefined) =>
    podOf(times.owners.find(({ term }) => term === stamp?.term)?.owner);
  return {
    streamRequestId,
    agent,
    status,
    ...(parent !== undefined && {
      parent: { streamRequestId: parent.streamRequestId, toolCallId: parent.toolCallId },
    }),
    ...spanOf(startedAt, endedAt),
    owners: times.owners.map(({ term, owner, since }, at) => ({
      state: owner === UNOWNED ? 'queued' : owner === DETACHED ? 'detached' : 'owned',
      ...podOf(owner),
      term,
      ...spanOf(since, times.owners[at + 1]?.since ?? endedAt),
    })),
    steps: run.steps.map(({ finishReason, inputTokens, outputTokens, modelMs = 0 }, index) => {
      const [stamp] = times.steps.get(index) ?? [];
      const end = stamp?.at ?? startedAt;
      return {
        index,
        finishReason,
        ...(inputTokens !== undefined && { inputTokens }),
        ...(outputTokens !== undefined && { outputTokens }),
        ...podAt(stamp),
        ...spanOf(end - modelMs, end),
      };
    }),
    calls: run.calls.map(({ toolCallId, toolName, step, state, run: delegate }) => {
      const [first, lastWrite] = times.calls.get(toolCallId) ?? [];
      const isOver = state === 'returned' || state === 'failed';
      return {
        toolCallId,
        toolName,
        step,
        state,
        ...(delegate !== undefined && { delegate }),
        ...podAt(lastWrite),
        ...spanOf(first?.at ?? startedAt, isOver ? (lastWrite?.at ?? now) : endedAt),
      };
    }),
    waits: run.pauses.map(({ elicitationId, trigger, toolCallId, outcome, pausedAt, resumedAt }) => ({
      elicitationId,
      trigger,
      ...(toolCallId !== undefined && { toolCallId }),
      ...(outcome !== undefined && { outcome }),
      ...spanOf(pausedAt, resumedAt ?? endedAt),
    })),
  };
}

function spanOf(start: number, end: number | undefined) {
  const startedAt = new Date(start).toISOString();
  if (end === undefined) return { startedAt };
  return {
    startedAt,
    endedAt: new Date(end).toISOString(),
    durationMs: Math.max(0, Math.round(end - start)),
  };
}

/** The pod that is an owner: its name, and an id of its start. Undefined for an owner other than a pod. */
export function podOf(owner: string | undefined): { readonly pod?: string } {
  if (owner === undefined || owner === UNOWNED || owner === DETACHED) return {};
  const slash = owner.lastIndexOf('/');
  return { pod: slash < 0 ? owner : owner.slice(0, slash) };
}

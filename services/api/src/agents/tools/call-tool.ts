/** Makes one tool call of a step, and records every change of its state. Running the step is in `loop/run-steps.ts`. */

import { isParleyError } from '@parley/core/domain/errors';
import type { CallRecord } from '@parley/shared/domain/runs/run';
import { forwardedEvent } from '../run/call-names.ts';
import { callSignal } from '../run/call-signal.ts';
import type { IdlePart } from '../run/idle.ts';
import { parseOneCallId } from '../run/one-call.ts';
import { type AgentQuestion, type AskOutcome, askPerson, type QuestionPlace } from '../run/question.ts';
import { type RunContext, resting } from '../run/run-context.ts';
import type { RequestedCall } from '../run/step.ts';
import {
  type CallEvent,
  failed,
  NO_SUCH_TOOL,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from '../run/tool.ts';
import { callAsDecided } from './approvals/gate.ts';
import { approvalPlaceOf, type CallRecording, innerPlace } from './approvals/place.ts';
import { type ApprovalPlace, approveCall, decisionBefore } from './approvals/request.ts';
import { withdrawInherited } from './inherited-questions.ts';
import { sampleForServer } from './passthrough/samples.ts';

/** A call of a step. `before` is its record, if another pod has begun it. */
export type StepCall = RequestedCall & {
  readonly toolCallId: string;
  /** Its index among the calls of its step. */
  readonly at: number;
  readonly before?: CallRecord;
  /** How many calls of the step use the run's tokens. */
  readonly sharers?: number;
  /** Id of the approval that another pod requested for the call. */
  readonly approvalId?: string | undefined;
};

/** The record of a call that has not been dispatched. */
export function recordOf(
  { toolCallId, toolName, modelCallId, at, fault }: StepCall,
  step: number,
): CallRecord {
  return {
    toolCallId,
    toolName,
    step,
    at,
    modelCallId,
    ...(fault !== undefined && { fault }),
    state: 'intended',
  };
}

/** Appends the `tool-called` event of a call. The caller must write the call's record in the same write. */
export async function announce(
  runContext: RunContext,
  tools: readonly Tool[],
  call: StepCall,
): Promise<void> {
  const { toolCallId, toolName, input } = call;
  const tool = tools.find(({ name }) => name === toolName);
  const title = tool?.title;
  await appendEvent(runContext, {
    type: 'tool-called',
    toolCallId,
    toolName,
    ...(title !== undefined && { title }),
    input: tool?.shownInput === undefined ? input : tool.shownInput(input),
  });
}

/**
 * Makes a call that was announced, appends the event of its outcome, and records every change of its state. A call that another
 * pod began is repeated only if it was never dispatched or the tool is repeatable. Rejects only with the reason of the run's
 * signal.
 */
export async function callTool(
  runContext: RunContext,
  tools: readonly Tool[],
  call: StepCall,
  step: number,
): Promise<ToolOutcome> {
  const { toolCallId, toolName, before } = call;
  const known = before === undefined ? undefined : recordedOutcome(before);
  if (known !== undefined) return known;
  const tool = tools.find(({ name }) => name === toolName);
  let record = before ?? recordOf(call, step);
  const save = (more: Partial<CallRecord>) => {
    record = { ...record, ...more };
    return runContext.writer.save([{ type: 'call', call: record }]);
  };
  const startedAt = performance.now();
  const { signal, release } = callSignal(runContext.signal, () => record.state === 'dispatched');
  const state = { record: () => record, save, part: runContext.turn.idle.part() };
  const place = approvalPlaceOf(runContext, call, state);
  const context = { ...toolCallContext(runContext, call, place, state), signal };
  const outcome = await executeOrRefuse(tool, call, (found) =>
    callDecided(runContext, found, context, place),
  ).finally(release);
  runContext.observer.called(runContext.run, {
    agent: runContext.id,
    tool: tool?.name ?? 'unknown',
    outcome: outcome.type,
    durationMs: Math.round(performance.now() - startedAt),
  });
  signal.throwIfAborted();
  if (before !== undefined) await withdrawInherited(runContext, toolCallId);
  // The record and the event are written together: if the event were appended without the record, the run's next owner would
  // append it again.
  await Promise.all(
    outcome.type === 'returned'
      ? [
          appendEvent(runContext, {
            type: 'tool-returned',
            toolCallId,
            output: outcome.shown ?? outcome.output,
            ...(outcome.page !== undefined && { page: outcome.page }),
          }),
          save({ state: 'returned', output: outcome.output, round: undefined, roundServer: undefined }),
        ]
      : [
          appendEvent(runContext, {
            type: 'tool-failed',
            toolCallId,
            message: outcome.message,
            ...(outcome.refusal !== undefined && { refusal: outcome.refusal }),
            ...(outcome.page !== undefined && { page: outcome.page }),
          }),
          save({
            state: 'failed',
            output: outcome.message,
            endsTurn: outcome.endsTurn,
            round: undefined,
            roundServer: undefined,
          }),
        ],
  );
  runContext.signal.throwIfAborted();
  return outcome;
}

/** Executes the call, unless its tool does not exist, it is malformed, or it may already have had its effect. */
async function executeOrRefuse(
  tool: Tool | undefined,
  { fault, before }: StepCall,
  make: (tool: Tool) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const mayHaveHappened = before?.state === 'dispatched' && before.run === undefined;
  if (mayHaveHappened && tool?.isRepeatable !== true) return failed(UNKNOWN);
  if (tool === undefined) return failed(NO_SUCH_TOOL);
  return fault === undefined ? make(tool) : failed(fault);
}

/** Makes a call as its person decided, if they did, even if no approval is demanded any more. */
async function callDecided(
  runContext: RunContext,
  tool: Tool,
  call: ToolCall,
  place: ApprovalPlace,
): Promise<ToolOutcome> {
  const decision = await decisionBefore(runContext, place, call.input);
  if (decision === undefined) return tool.call(call);
  const approve: ToolCall['approve'] = async ({ args }) => ({
    type: 'granted',
    input: args,
    isEdited: false,
  });
  const isWhole = parseOneCallId(runContext.id) !== undefined;
  return callAsDecided(tool, { ...call, approve }, decision, isWhole);
}

const UNKNOWN =
  'The call was made, but its outcome was lost with the pod that made it: it may or may not have had its effect. Do not repeat it unasked; find out, or tell the user.';

/** The recorded outcome of a call, if there is one. */
function recordedOutcome({ state, output, endsTurn }: CallRecord): ToolOutcome | undefined {
  if (state === 'returned') return { type: 'returned', output: output ?? null };
  return state === 'failed' ? failed(String(output), endsTurn) : undefined;
}

/** Appends an event to the run's own feed, and for a delegate also to the turn's. */
async function appendEvent({ writer, turn, delegate }: RunContext, event: CallEvent): Promise<void> {
  await writer.append(event);
  if (delegate !== undefined) await turn.append(forwardedEvent(event, delegate.agent, delegate.callId));
}

/** The context in which a tool call uses its run. */
function toolCallContext(
  runContext: RunContext,
  { toolCallId, input, before, sharers = 1 }: StepCall,
  place: ApprovalPlace,
  { record, save, part }: CallRecording,
): Omit<ToolCall, 'signal'> {
  const { run, turn, clock } = runContext;
  // The result of a dispatched call reaches only this pod, so the pod keeps the run while the person is asked.
  const waitingNow = (): IdlePart['waiting'] =>
    record().state === 'dispatched' ? (wait) => wait() : part.waiting;
  return {
    toolCallId,
    callKey: `${run.streamRequestId} ${toolCallId}`,
    input,
    reach: turn.reach,
    released: runContext.released,
    isAttended: turn.support.unattended !== true,
    hops: turn.support.hops ?? 0,
    beforeDispatch: async () => {
      await save({ state: 'dispatched' });
      return input;
    },
    notExecuted: () => save({ state: 'intended' }),
    round: () => record().round,
    saveRound: (round, roundServer) => save({ state: 'intended', round, roundServer }),
    appendEvent: (event) => appendEvent(runContext, event),
    waiting: clock.waiting,
    holdMs: turn.idle.afterMs,
    // A dispatched call returns to this pod only, so it does not rest. A delegate's call does not rest either: the turn would
    // wait for a run, and readers would disconnect.
    rest: (ms, pause) =>
      record().state === 'dispatched' || runContext.delegate !== undefined
        ? pause()
        : resting(runContext, ms, () => part.rest(pause)),
    work: part.work,
    ask: (ordinal, question, options) =>
      clock.waiting(() => ask(runContext, { ...options, toolCallId, ordinal }, question, waitingNow())),
    ...(runContext.sample !== undefined && {
      sample: (request) => {
        const waiting: IdlePart['waiting'] = (wait) => clock.waiting(() => waitingNow()(wait));
        const place = { ...runContext, toolCallId, step: record().step, waiting };
        return sampleForServer(
          runContext,
          {
            ...place,
            appendEvent: (event) => appendEvent(runContext, event),
            spent: (taken) => runContext.writer.saveSoon([{ type: 'call', call: record(), taken }]),
          },
          request,
        );
      },
    }),
    approve: (needed, within) =>
      approveCall(runContext, within === undefined ? place : innerPlace(runContext, place, within), needed),
    delegate: (agent, task) =>
      runContext.delegateTo(
        {
          from: runContext,
          toolCallId,
          sharers,
          save: (run) => save({ state: 'dispatched', run }),
          ...(before?.run !== undefined && { before: before.run }),
        },
        agent,
        task,
      ),
  };
}

async function ask(
  { engine, turn, run, writer, open, inheritedPauses, title, signal }: RunContext,
  place: Omit<QuestionPlace, 'run' | 'turn'>,
  question: AgentQuestion,
  waiting: IdlePart['waiting'],
): Promise<AskOutcome> {
  // Readers must see the call before its question. A call of a deleted conversation must not ask any more, so this rejects.
  await turn.poll();
  turn.openQuestions += 1;
  let isOpen = false;
  try {
    const outcome = await askPerson(
      {
        engine,
        save: (pause) => writer.save([{ type: 'pause', pause }]),
        saveSoon: (pause) => writer.saveSoon([{ type: 'pause', pause }]),
        onAsked(id) {
          isOpen = true;
          open.add(id);
          inheritedPauses.delete(id);
        },
        waiting,
        reach: turn.reach(question),
      },
      { run, turn: turn.run, ...place },
      { ...question, context: { trigger: 'agent', agent: title, ...question.context } },
      signal,
    );
    turn.openQuestions -= 1;
    open.delete(outcome.elicitationId);
    // Usually the turn was stopped. Polling now makes sure that the run does not continue.
    if (outcome.status === 'withdrawn') await turn.poll();
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    // A refused question is not open.
    if (isParleyError(error) && !isOpen) turn.openQuestions -= 1;
    throw error;
  }
}

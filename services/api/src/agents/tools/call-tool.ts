import { isParleyError } from '@parley/shared/domain/errors';
import type { CallRecord } from '@parley/shared/domain/runs/run';
import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { Rest } from '../loop/idle.ts';
import type { RequestedCall } from '../loop/model-step.ts';
import type { Working } from '../loop/run-context.ts';
import { isInterrupted } from '../loop/run-end.ts';
import { endLeftOpen } from '../ownership/open-questions.ts';
import { type AskOutcome, askPerson, type Question } from './question.ts';
import { failed, type Tool, type ToolCall, type ToolOutcome } from './tool.ts';

// Shorter than the end of a run waits for its calls.
const COMING_BACK_MS = 3_000;

/** A call of a round; `before` is what is known of it when another pod had begun it. */
export type Call = RequestedCall & {
  readonly toolCallId: string;
  /** The how-manieth of its round it is. */
  readonly at: number;
  readonly before?: CallRecord;
};

/** The record of a call that has not left. */
export function recordOf({ toolCallId, toolName, modelCallId, at, fault }: Call, step: number): CallRecord {
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

/** Tells readers of a call, which its record says with the same write. */
export async function announce(working: Working, tools: readonly Tool[], call: Call): Promise<void> {
  const { toolCallId, toolName, input } = call;
  const title = tools.find(({ name }) => name === toolName)?.title;
  await tell(working, {
    type: 'tool-called',
    toolCallId,
    toolName,
    ...(title !== undefined && { title }),
    input,
  });
}

/**
 * Makes one call that was announced, tells readers what came of it, and keeps how it stands at every turn. One that
 * another pod had begun is not made again unless it never left, or a repetition is harmless. Rejects with the run's
 * end only.
 */
export async function callTool(
  working: Working,
  tools: readonly Tool[],
  call: Call,
  step: number,
): Promise<ToolOutcome> {
  const { toolCallId, toolName, before } = call;
  const known = before === undefined ? undefined : outcomeOf(before);
  if (known !== undefined) return known;
  const tool = tools.find(({ name }) => name === toolName);
  let record = before ?? recordOf(call, step);
  const note = (more: Partial<CallRecord>) => {
    record = { ...record, ...more };
    return working.writer.keep([{ type: 'call', call: record }]);
  };
  const startedAt = performance.now();
  const signal = callSignal(working.signal, () => record.state === 'dispatched');
  const door = doorFor(working, call, note, () => record.state === 'dispatched');
  const outcome = await outcomeFrom(tool, call, () => ({ ...door, signal }));
  working.observer.called(working.run, {
    agent: working.id,
    tool: tool?.name ?? 'unknown',
    outcome: outcome.type,
    durationMs: Math.round(performance.now() - startedAt),
  });
  signal.throwIfAborted();
  if (before !== undefined) await endLeftOpen(working, toolCallId);
  // In one write: whoever goes on with the run tells again what was told without being kept.
  await Promise.all(
    outcome.type === 'returned'
      ? [
          tell(working, { type: 'tool-returned', toolCallId, output: outcome.shown ?? outcome.output }),
          note({ state: 'returned', output: outcome.output }),
        ]
      : [
          tell(working, { type: 'tool-failed', toolCallId, message: outcome.message }),
          note({ state: 'failed', output: outcome.message }),
        ],
  );
  working.signal.throwIfAborted();
  return outcome;
}

/** Aborted with the run; when it is the pod that goes away, what has left gets a moment to come back. */
function callSignal(signal: AbortSignal, hasLeft: () => boolean): AbortSignal {
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  const onAbort = () => {
    if (isInterrupted(signal) && hasLeft()) setTimeout(end, COMING_BACK_MS).unref();
    else end();
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return ending.signal;
}

async function outcomeFrom(
  tool: Tool | undefined,
  { toolName, fault, before }: Call,
  door: () => ToolCall,
): Promise<ToolOutcome> {
  const mayHaveHappened = before?.state === 'dispatched' && before.run === undefined;
  if (mayHaveHappened && tool?.isRepeatable !== true) return failed(UNKNOWN);
  if (tool === undefined || fault !== undefined)
    return failed(fault ?? `There is no tool named ${toolName}.`);
  return tool.call(door());
}

const UNKNOWN =
  'The call was made, but its outcome was lost with the pod that made it: it may or may not have had its effect. Do not repeat it unasked; find out, or tell the user.';

/** What a call had come to, where that is known. */
function outcomeOf({ state, output }: CallRecord): ToolOutcome | undefined {
  if (state === 'returned') return { type: 'returned', output: output ?? null };
  return state === 'failed' ? failed(String(output)) : undefined;
}

/** Something that is told of a call. */
export type CallEvent = Extract<TurnEvent, { readonly toolCallId: string }>;

export function isCallEvent(event: TurnEvent): event is CallEvent {
  return 'toolCallId' in event;
}

/** What is told of a delegate's call on the stream of whoever delegated by the call `callId`. */
export function retold(event: CallEvent, agent: string, callId: string): CallEvent {
  const toolCallId = `${callId}.${event.toolCallId}`;
  // Its own delegates are named already.
  return event.type === 'tool-called' ? { agent, ...event, toolCallId } : { ...event, toolCallId };
}

/** The id that a call of the run has on the turn's stream. */
export function turnCallId({ delegate }: Working, toolCallId: string): string {
  return delegate === undefined ? toolCallId : `${delegate.callId}.${toolCallId}`;
}

/** Tells the run's own readers, and the turn's. */
async function tell({ writer, turn, delegate }: Working, event: CallEvent): Promise<void> {
  await writer.tell(event);
  if (delegate !== undefined) await turn.tell(retold(event, delegate.agent, delegate.callId));
}

/** What the tool sees of the run. */
function doorFor(
  working: Working,
  { toolCallId, input, before }: Call,
  note: (more: Partial<CallRecord>) => Promise<void>,
  hasLeft: () => boolean,
): Omit<ToolCall, 'signal'> {
  const { run, turn, clock } = working;
  return {
    toolCallId,
    callKey: `${run.streamRequestId} ${toolCallId}`,
    input,
    support: turn.support,
    leaving: async () => {
      await note({ state: 'dispatched' });
      return input;
    },
    unmade: () => note({ state: 'intended' }),
    tell: (event) => tell(working, event),
    ask: (ordinal, question, shared) => {
      const place = { toolCallId, ordinal, ...(shared !== undefined && { shared }) };
      // What has left answers to this pod only, which has to stay with it.
      const waiting: Rest['waiting'] = hasLeft() ? (wait) => wait() : turn.rest.waiting;
      return clock.waiting(() => ask(working, place, question, waiting));
    },
    delegate: (agent, task) =>
      working.delegateTo(
        {
          from: working,
          toolCallId,
          note: (run) => note({ state: 'dispatched', run }),
          ...(before?.run !== undefined && { before: before.run }),
        },
        agent,
        task,
      ),
  };
}

async function ask(
  { engine, turn, run, writer, open, leftOpen, title, signal }: Working,
  place: { readonly toolCallId: string; readonly ordinal: number; readonly shared?: string },
  question: Question,
  waiting: Rest['waiting'],
): Promise<AskOutcome> {
  // A question is shown behind the call that asks it.
  await turn.told();
  turn.asking += 1;
  try {
    const outcome = await askPerson(
      {
        engine,
        keep: (pause) => writer.keep([{ type: 'pause', pause }]),
        note: (pause) => writer.note([{ type: 'pause', pause }]),
        onAsked(id) {
          open.add(id);
          leftOpen.delete(id);
        },
        waiting,
        isShown: turn.support[question.mode],
      },
      { run, turn: turn.run, ...place },
      { ...question, context: { trigger: 'agent', agent: title, ...question.context } },
      signal,
    );
    turn.asking -= 1;
    open.delete(outcome.elicitationId);
    // Mostly because the turn is to stop: then nobody goes on with that, however soon they hear of it.
    if (outcome.status === 'withdrawn') await turn.look();
    signal.throwIfAborted();
    return outcome;
  } catch (error) {
    // What was refused is not open.
    if (isParleyError(error)) turn.asking -= 1;
    throw error;
  }
}

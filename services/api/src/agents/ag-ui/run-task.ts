/**
 * Has an AG-UI agent do a task, run after run, so that any pod can continue it. The events of a run are applied in `thread.ts`,
 * posting is in `link.ts`.
 */

import { readable } from '@parley/core/domain/readable';
import { HOPS_KEY } from '@parley/shared/domain/a2a/hops';
import { describeFault, FATE_UNKNOWN, RemoteFault } from '../remote/faults.ts';
import { createPartials } from '../remote/partials.ts';
import { failedWith, type RemoteTaskResult, returned } from '../remote/result.ts';
import { pauseBefore, startTaskWork } from '../remote/task-work.ts';
import { failed, type ToolOutcome } from '../run/tool.ts';
import { type AgUiTaskState, newTaskState, parseTaskState, runIdOf } from './checkpoint.ts';
import { MalformedRun } from './events.ts';
import { answerInterrupts, type ResumedInterrupt, TURN_ENDS } from './questions.ts';
import { createShownCalls } from './shown-calls.ts';
import type { AgUiTaskRun } from './task-run.ts';
import { type AgUiRunEnd, type AgUiThread, createRunFold, textOfThread } from './thread.ts';

/** How often the agent's text so far is shown. Each time, the whole text is read and recorded. */
const SHOW_MS = 1_000;
const SAYING: ReadonlySet<string> = new Set(['TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_CHUNK']);
/** The code with which another Parley reports that the run continues and must be posted again with a new token. */
const TOKEN_EXPIRED = 'token_expired';
/** The codes with which another Parley reports that the run continues, or may be posted again. */
const PASSING_CODES: ReadonlySet<string> = new Set(['unavailable', 'rate_limited', 'pod_busy']);

/**
 * Gives a task to an AG-UI agent, or continues a task that this pod or another one began. Each run is recorded before it is
 * posted, and its end afterwards, so a run is begun only once. Rejects only with the reason of the call's signal.
 */
export async function runAgUiTask(
  parts: Pick<AgUiTaskRun, 'link' | 'call' | 'rules'>,
  task: string,
): Promise<RemoteTaskResult> {
  const { link, call } = parts;
  const { title } = link.agent;
  const recorded = call.round();
  const before = recorded === undefined ? newTaskState(call.callKey, task) : parseTaskState(recorded);
  if (before === undefined) return failed(`The task of ${title} can no longer be found. ${FATE_UNKNOWN}`);
  const run = startTaskWork(parts, before);
  try {
    const result = await converse(run).catch((error: unknown) => resultOfFault(run, error));
    if (result.type !== 'unauthorized') await createShownCalls(run).close();
    return result;
  } finally {
    run.clock.stop();
  }
}

/** The outcome of a task that cannot continue. Throws the reason of the call's signal, and Parley's own errors. */
function resultOfFault({ link, call, clock }: AgUiTaskRun, error: unknown) {
  const { title } = link.agent;
  call.signal.throwIfAborted();
  if (error instanceof RemoteFault && error.kind === 'unauthorized')
    return { type: 'unauthorized', status: error.status } as const;
  if (clock.over.aborted)
    return failed(`${title} did not finish in time. The task may have been done in part.`);
  if (error instanceof RemoteFault) return failed(describeFault(title, error));
  if (error instanceof MalformedRun)
    return failed(`${title} cannot be read: ${error.message}. The task may have been done in part.`);
  throw error;
}

/** Posts runs until a run ends without an interrupt. */
async function converse(run: AgUiTaskRun): Promise<ToolOutcome> {
  const { link, call, rules, clock } = run;
  const { agent } = link;
  for (;;) {
    run.over.throwIfAborted();
    const { interrupts, messages, run: count, asked, end } = run.state;
    if (end !== undefined) return outcomeOf(run, end);
    if (asked > rules.questionsMax)
      return failed(`${agent.title} asked the user too many questions, so the task was ended.`);
    const asker = { call, agent, rules, thread: { messages }, run: count };
    const answers = () => answerInterrupts(asker, interrupts);
    const resume = interrupts.length === 0 ? undefined : await clock.waiting(answers);
    if (resume === TURN_ENDS) return failed(`${agent.title} was stopped before it was done.`, true);
    await postUntilEnded(run, resume);
  }
}

/**
 * Posts a run, and reads it until its end, which is recorded. A run that may have begun is posted again only to agents that
 * continue a run under the same id. With other agents, the outcome of the task is unknown.
 */
async function postUntilEnded(
  run: AgUiTaskRun,
  resume: readonly ResumedInterrupt[] | undefined,
): Promise<void> {
  const { agent } = run.link;
  let mayHaveBegun = run.state.isSending;
  for (let attempt = 0; ; attempt += 1) {
    if (mayHaveBegun && !agent.isRepeatable) throw new RemoteFault('unknown');
    await pauseBefore(attempt, run.over);
    await run.save({ isSending: true });
    try {
      const { end, thread } = await postOnce(run, resume);
      const code = end.type === 'error' && agent.isRepeatable ? end.code : '';
      if (code !== TOKEN_EXPIRED && !PASSING_CODES.has(code)) return await recordEnd(run, end, thread);
      mayHaveBegun = true;
      if (code === TOKEN_EXPIRED) throw new RemoteFault('unauthorized');
    } catch (error) {
      if (!(error instanceof RemoteFault) || run.over.aborted) throw error;
      mayHaveBegun = await afterFault(run, error, mayHaveBegun);
    }
  }
}

/** Returns whether the run may have begun. Throws a fault after which the run is not posted again. */
async function afterFault(run: AgUiTaskRun, fault: RemoteFault, mayHaveBegun: boolean): Promise<boolean> {
  if (fault.kind === 'unknown') return true;
  const isUnsent = fault.kind === 'unreachable' || fault.kind === 'busy';
  if (!mayHaveBegun && (isUnsent || fault.kind === 'unauthorized')) await run.save({ isSending: false });
  // Nothing has been done yet, so the delegating model may choose another way.
  const isBeginning = run.state.run === 0 && !mayHaveBegun;
  if (!isUnsent || isBeginning) throw fault;
  return mayHaveBegun;
}

interface EndedRun {
  readonly end: AgUiRunEnd;
  readonly thread: AgUiThread;
}

async function postOnce(
  run: AgUiTaskRun,
  resume: readonly ResumedInterrupt[] | undefined,
): Promise<EndedRun> {
  const { link, call, state, over } = run;
  const fold = createRunFold(state, link.agent.threadBytesMax);
  const shownCalls = createShownCalls(run);
  const partials = createPartials(run);
  const scrubbed = () => link.scrub.value(fold.thread) as typeof fold.thread;
  let shownAt = Number.NEGATIVE_INFINITY;
  for await (const event of link.run(inputOf(run, resume), over)) {
    const end = fold.take(event);
    await shownCalls.show(fold.calls());
    if (end !== undefined) return { end: link.scrub.value(end) as AgUiRunEnd, thread: scrubbed() };
    if (performance.now() - shownAt < SHOW_MS || !SAYING.has(event.type)) continue;
    shownAt = performance.now();
    await partials.show(textOfThread(scrubbed()));
  }
  call.signal.throwIfAborted();
  throw new RemoteFault('unknown');
}

/** Records how a run ended, before any effect of that. */
async function recordEnd(run: AgUiTaskRun, end: AgUiRunEnd, { messages, state }: AgUiThread): Promise<void> {
  const interrupts = end.type === 'interrupt' ? [...end.interrupts] : [];
  await run.save({
    run: run.state.run + 1,
    isSending: false,
    messages: [...messages],
    state,
    interrupts,
    asked: run.state.asked + interrupts.length,
    ...(end.type !== 'interrupt' && { end: { code: '', message: '', ...end } }),
  });
}

function inputOf({ call, state }: AgUiTaskRun, resume: readonly ResumedInterrupt[] | undefined): object {
  return {
    threadId: state.threadId,
    runId: runIdOf(call.callKey, state),
    protocolVersion: '1.0',
    messages: state.messages,
    state: state.state ?? {},
    tools: [],
    context: [],
    forwardedProps: { [HOPS_KEY]: call.hops + 1 },
    ...(resume !== undefined && { resume }),
  };
}

/** The outcome of the delegating call for a task that has ended. */
function outcomeOf(
  { link, state }: AgUiTaskRun,
  { type, code, message, result }: NonNullable<AgUiTaskState['end']>,
): ToolOutcome {
  const { title, resultLengthMax } = link.agent;
  if (type === 'cancelled') return failed(`${title} cancelled the task; it may have been done in part.`);
  if (type === 'error') {
    const said = readable([message, code].filter((one) => one !== '').join(' '));
    return failedWith(`${title} could not finish the task`, said);
  }
  return returned(title, textOfThread(state) || textOfResult(result), resultLengthMax);
}

function textOfResult(result: unknown): string {
  if (result === undefined || result === null) return '';
  return (typeof result === 'string' ? result : JSON.stringify(result)).trim();
}

/** Shows a call as an MCP task. The requests about tasks are served in `serve-tasks.ts`. */

import { isReferenceId, type StreamRef } from '@parley/core/domain/ids';
import type { Run } from '@parley/shared/domain/runs/run';
import { isOneCall } from '../../../turns/call-result.ts';
import { createTurnReader, type FollowedEvent } from '../../../turns/follow.ts';
import { isCall } from '../call-names.ts';
import type { Shows } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { RPC, type RpcError } from '../json-rpc.ts';
import { createCallOutput, type EndedCall } from '../outcome.ts';
import { progressMessage, WAITING } from '../progress.ts';
import { inputRequestsOf } from '../questions.ts';
import { createOpenAsks, type OpenAsks } from '../waiting/open-asks.ts';
import { toldStatus } from '../waiting/told.ts';
import { isShown } from '../waiting/waits.ts';

/** The members that every state of a task has. */
interface McpTaskHead {
  readonly taskId: string;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
}

/** The members that a task has only in its state. */
type McpTaskState =
  | { readonly status: 'working' | 'cancelled' }
  | { readonly status: 'input_required'; readonly inputRequests: Readonly<Record<string, unknown>> }
  | { readonly status: 'completed'; readonly result: object }
  | { readonly status: 'failed'; readonly error: RpcError };

/** A call as a task. */
interface McpTask {
  readonly run: Run;
  readonly head: McpTaskHead;
  readonly state: McpTaskState;
}

type TaskDeps = Pick<McpDeps, 'turns' | 'clientRequests' | 'callMs' | 'answerPage' | 'connectBaseUrl'>;

// The limits of the polling interval. A task that has not changed for long will probably not change soon, so it is polled less
// often.
const POLL = { leastMs: 1_000, mostMs: 10_000, ofQuiet: 0.1 };

/** The call that is a task; undefined if the owner has no task with this id. Throws `unavailable`. */
export async function findTask(
  { turns }: Pick<TaskDeps, 'turns'>,
  stream: StreamRef,
): Promise<Run | undefined> {
  const run = isReferenceId(stream.streamRequestId) ? await turns.readRun(stream) : undefined;
  return run !== undefined && isCall(run) ? run : undefined;
}

/** The state of a task according to the events of its call. */
interface TaskView {
  /** Reads the next event. Returns true if it changed the task. */
  take(event: FollowedEvent): boolean;
  readonly asks: OpenAsks;
  readonly progress: string | undefined;
  readonly end: EndedCall | undefined;
}

export function createTaskView({ agent }: Run): TaskView {
  const asks = createOpenAsks();
  const output = createCallOutput(isOneCall(agent) ? 'tool' : 'agent');
  let progress: string | undefined;
  let end: EndedCall | undefined;
  return {
    asks,
    get progress() {
      return progress;
    },
    get end() {
      return end;
    },
    take(event) {
      const isAsk = asks.take(event);
      const message = progressMessage(event);
      progress = message ?? progress;
      end ??= output.take(event);
      return isAsk || message !== undefined || end !== undefined;
    },
  };
}

/**
 * Reads a call as a task, for the client of one request: its run and its feed in one read. Undefined if the owner has no call
 * with this id. Throws `unavailable`.
 */
export async function readTask(
  deps: TaskDeps,
  stream: StreamRef,
  shows: Shows,
): Promise<McpTask | undefined> {
  const found = isReferenceId(stream.streamRequestId) ? await deps.turns.replayRun(stream) : undefined;
  if (found === undefined || !isCall(found.run)) return undefined;
  const { run, items } = found;
  const read = createTurnReader();
  const view = createTaskView(run);
  let updatedAt = run.endedAt ?? run.startedAt;
  let writtenAt = updatedAt;
  for await (const item of items) {
    writtenAt = Math.max(writtenAt, item.at);
    // Some items, such as a take-over by another pod, change nothing that the client can see.
    for (const event of read(item)) if (view.take(event)) updatedAt = Math.max(updatedAt, item.at);
  }
  const told = run.status === 'running' ? await openState(deps, run, view, shows) : endedState(run, view.end);
  return {
    run,
    head: headOf(deps, run, {
      updatedAt,
      keptFrom: run.status === 'running' ? Math.max(writtenAt, deadlineOf(view.asks)) : writtenAt,
      message: told.message,
    }),
    state: told.state,
  };
}

/** The state of a task, and the text about it for the client. */
interface ToldState {
  readonly state: McpTaskState;
  readonly message?: string | undefined;
}

function endedState({ status }: Run, end: EndedCall | undefined): ToldState {
  if (status === 'stopped') return { state: { status: 'cancelled' }, message: 'The call was stopped.' };
  if (end !== undefined && end.refusal === undefined)
    // The result is as the call would have returned it, because clients take it for a complete result of their revision.
    return { state: { status: 'completed', result: { resultType: 'complete', ...(end.result as object) } } };
  const error = end?.refusal ?? LOST;
  return { state: { status: 'failed', error }, message: error.message };
}

const LOST: RpcError = { code: RPC.internal, message: 'The result of the call is no longer stored.' };

async function openState(
  deps: TaskDeps,
  run: Run,
  { asks: { questions, approvals, requests }, progress }: TaskView,
  shows: Shows,
): Promise<ToldState> {
  const open = questions.filter(({ status }) => status === 'pending');
  const elsewhere = { questions: open.filter((one) => !isShown(one, shows)), approvals };
  const isElsewhere = elsewhere.questions.length + approvals.length > 0;
  const asked = requests.filter(({ method }) => does(shows, method));
  const isOpen = await Promise.all(asked.map(({ requestId }) => deps.clientRequests.isOpen(run, requestId)));
  const inputRequests = inputRequestsOf(
    open.filter((one) => isShown(one, shows)),
    asked.filter((_one, at) => isOpen[at]),
  );
  const isAsking = Object.keys(inputRequests).length > 0;
  const waiting = isAsking || questions.length > 0 ? WAITING : progress;
  return {
    state: isAsking ? { status: 'input_required', inputRequests } : { status: 'working' },
    message: isElsewhere ? toldStatus(deps, elsewhere) : waiting,
  };
}

function does({ services }: Shows, method: string): boolean {
  return method === 'roots/list' ? services?.roots === true : services?.sampling !== undefined;
}

/** The last time at which something open can be answered, in ms since 1970. */
function deadlineOf({ questions, approvals, requests }: OpenAsks): number {
  const ends = [...questions, ...approvals].map(({ expiresAt }) => Date.parse(expiresAt));
  return Math.max(0, ...ends, ...requests.map(({ expiresAt }) => expiresAt));
}

/** `keptFrom`: a run is stored as long as it waits, and for the retention after that time. */
function headOf(
  { callMs }: Pick<TaskDeps, 'callMs'>,
  { streamRequestId, startedAt }: Run,
  told: { readonly updatedAt: number; readonly keptFrom: number; readonly message: string | undefined },
): McpTaskHead {
  const { updatedAt, keptFrom, message } = told;
  return {
    taskId: streamRequestId,
    ...(message !== undefined && { statusMessage: message }),
    createdAt: new Date(startedAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: Math.ceil(keptFrom - startedAt + callMs),
    // This is only a hint, so the pod's own clock is good enough.
    pollIntervalMs: pollMs(Date.now() - updatedAt),
  };
}

/** The interval between polls of a task that has been quiet for this long. */
function pollMs(quietMs: number): number {
  return Math.round(Math.min(POLL.mostMs, Math.max(POLL.leastMs, quietMs * POLL.ofQuiet)));
}

/** Lists the tasks of a caller, page by page. Finding a single task is in `tasks.ts`. */

import type { ListTasksRequest, Task } from '@a2a-js/sdk';
import { ParleyError } from '@parley/core/domain/errors';
import { contextOf } from '@parley/shared/domain/a2a/context';
import type { TaskState } from '@parley/shared/domain/a2a/wire';
import type { Run } from '@parley/shared/domain/runs/run';
import type { Sdk } from './sdk.ts';
import type { OpenedTask } from './task-stream.ts';

const PAGE = 50;
const PAGE_MAX = 100;
// How many tasks are read at a time, because a task is held in memory completely while it is read.
const READ_AT_ONCE = 10;

interface TaskListDeps {
  /** The ids of turns that may be tasks. */
  readonly listIds: () => Promise<readonly string[]>;
  /** The run of a task. Undefined for turns that are not tasks of the caller. */
  readonly read: (taskId: string) => Promise<Run | undefined>;
  /** Reads the whole feed of a task. */
  readonly open: (run: Run) => Promise<OpenedTask>;
  /** A task as it is sent to clients. Undefined if its feed is no longer stored. */
  readonly taskOf: (opened: OpenedTask) => Task | undefined;
}

type TaskStateNumber = ListTasksRequest['status'];

interface TaskPage {
  readonly tasks: Task[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** The facts about each task that a list needs. `changedAt` is the time of its status, in ms on the Redis clock. */
interface ListedTask {
  readonly taskId: string;
  readonly state: TaskState | undefined;
  readonly changedAt: number;
}

/**
 * A page of tasks, those with the latest change of status first. Only the tasks of the page are read completely. The others are
 * filtered by their runs, or, if a run does not determine the state, by their feeds one after another. Throws `invalid_request`
 * for an unknown page token and for other invalid parameters.
 */
export async function listPage(
  { taskStateToJSON, TaskState }: Sdk['core'],
  deps: TaskListDeps,
  request: ListTasksRequest,
): Promise<TaskPage> {
  const { contextId, status, pageToken, statusTimestampAfter } = request;
  checkRequest(request, TaskState.UNRECOGNIZED);
  const state = status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : taskStateToJSON(status);
  const after = statusTimestampAfter === undefined ? Number.NaN : Date.parse(statusTimestampAfter);

  async function listedOf(taskId: string): Promise<ListedTask[]> {
    const run = await deps.read(taskId);
    if (run === undefined || (contextId !== '' && contextOf(run.conversationId) !== contextId)) return [];
    if (run.endedAt !== undefined && run.endedAt < after) return [];
    const listed = listedByRun(run, state !== undefined) ?? listedByFeed(await deps.open(run));
    if (listed === undefined || listed.changedAt < after) return [];
    return state === undefined || listed.state === state ? [listed] : [];
  }

  const found = (await inBatches(await deps.listIds(), listedOf)).sort((a, b) => b.changedAt - a.changedAt);
  const last = found.findIndex(({ taskId }) => taskId === pageToken);
  if (pageToken !== '' && last < 0) throw wrong('pageToken', 'is of no page of this list');
  const pageSize = request.pageSize ?? PAGE;
  const page = found.slice(last + 1, last + 1 + pageSize);
  const hasMore = last + 1 + pageSize < found.length;
  const tasks = await inBatches(page, async ({ taskId }) => {
    const run = await deps.read(taskId);
    const task = run && deps.taskOf(await deps.open(run));
    if (task === undefined) return [];
    return [request.includeArtifacts === true ? task : { ...task, artifacts: [] }];
  });
  return {
    tasks,
    nextPageToken: hasMore ? (page.at(-1)?.taskId ?? '') : '',
    pageSize,
    totalSize: found.length,
  };
}

/** RFC 3339, the JSON notation of protocol buffers for timestamps. `Date.parse` alone would also accept `1` and `March 7`. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Throws `invalid_request` for a number of messages that no history can have. */
export function checkHistoryLength(length: number | undefined): void {
  if (length === undefined || (Number.isInteger(length) && length >= 0)) return;
  throw wrong('historyLength', 'must be a whole number, 0 or more');
}

function checkRequest(request: ListTasksRequest, unknownState: TaskStateNumber): void {
  const { pageSize = PAGE, status, statusTimestampAfter: after } = request;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > PAGE_MAX)
    throw wrong('pageSize', `must be a whole number from 1 to ${PAGE_MAX}`);
  if (status === unknownState) throw wrong('status', 'is no state of a task');
  if (after !== undefined && !(TIMESTAMP.test(after) && Number.isFinite(Date.parse(after))))
    throw wrong('statusTimestampAfter', 'must be a time of ISO 8601');
  checkHistoryLength(request.historyLength);
}

function wrong(path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', 'The parameters are not well formed.', {
    issues: [{ path, message }],
  });
}

/** The facts about an ended task that its run determines. Undefined if its feed must be read. */
function listedByRun(
  { streamRequestId, status, endedAt, steps }: Run,
  needsState: boolean,
): ListedTask | undefined {
  if (endedAt === undefined) return undefined;
  const ended = { taskId: streamRequestId, changedAt: endedAt };
  if (!needsState) return { ...ended, state: undefined };
  if (status === 'stopped') return { ...ended, state: 'TASK_STATE_CANCELED' };
  if (status === 'failed') return { ...ended, state: 'TASK_STATE_FAILED' };
  // A turn that was ended by a filter or the step limit also counts as finished, so only the finish reason tells.
  return steps.at(-1)?.finishReason === 'stop' ? { ...ended, state: 'TASK_STATE_COMPLETED' } : undefined;
}

function listedByFeed({ run, fold }: OpenedTask): ListedTask | undefined {
  const status = fold.task()?.status;
  if (status === undefined) return undefined;
  return { taskId: run.streamRequestId, state: status.state, changedAt: Date.parse(status.timestamp) };
}

async function inBatches<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<readonly Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += READ_AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + READ_AT_ONCE).map(read))).flat());
  return results;
}

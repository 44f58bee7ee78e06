import type { ListTasksRequest } from '@a2a-js/sdk';
import type { Sdk } from './sdk.ts';
import type { OpenedTask } from './task-stream.ts';

const PAGE = 50;
const PAGE_MAX = 100;

interface TaskPage {
  readonly listed: readonly OpenedTask[];
  readonly nextPageToken: string;
  readonly pageSize: number;
  readonly totalSize: number;
}

/** A page of tasks, the one whose status changed last first. Undefined for a token that no page has. */
export function listPage(
  { taskStateToJSON, TaskState }: Sdk['core'],
  tasks: readonly OpenedTask[],
  request: ListTasksRequest,
): TaskPage | undefined {
  const { contextId, status, pageToken, statusTimestampAfter } = request;
  const state = status === TaskState.TASK_STATE_UNSPECIFIED ? undefined : taskStateToJSON(status);
  const after = statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter);
  const found = tasks
    .filter(({ fold }) => {
      const task = fold.task();
      if (task === undefined || (contextId !== '' && task.contextId !== contextId)) return false;
      if (state !== undefined && task.status.state !== state) return false;
      return after === undefined || Number.isNaN(after) || Date.parse(task.status.timestamp) >= after;
    })
    .sort((a, b) => timestampOf(b).localeCompare(timestampOf(a)));
  const last = found.findIndex(({ run }) => run.streamRequestId === pageToken);
  if (pageToken !== '' && last < 0) return undefined;
  const pageSize = Math.min(PAGE_MAX, Math.max(1, request.pageSize ?? PAGE));
  const listed = found.slice(last + 1, last + 1 + pageSize);
  const hasMore = last + 1 + pageSize < found.length;
  return {
    listed,
    nextPageToken: hasMore ? (listed.at(-1)?.run.streamRequestId ?? '') : '',
    pageSize,
    totalSize: found.length,
  };
}

function timestampOf({ fold }: OpenedTask): string {
  return fold.task()?.status.timestamp ?? '';
}

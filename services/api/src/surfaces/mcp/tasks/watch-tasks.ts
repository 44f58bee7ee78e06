import { isDeepStrictEqual } from 'node:util';
import type { Run } from '@parley/shared/domain/runs/run';
import { followTurn } from '../../../turns/follow.ts';
import type { Calls } from '../calls.ts';
import type { Shows } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { notification } from '../json-rpc.ts';
import type { ListenNotices } from '../waiting/notices.ts';
import { isShown } from '../waiting/waits.ts';
import { createTaskView, readTask } from './task.ts';

interface WatchDeps extends McpDeps {
  readonly calls: Pick<Calls, 'releaseTask'>;
}

/** How one client follows tasks. */
interface TaskFollowing {
  readonly shows: Shows;
  readonly notices: ListenNotices;
  /** When aborted, the following ends. */
  readonly signal: AbortSignal;
}

/** Reports the state of a task and each change of it. Like every reader, it lets another pod continue a task whose pod dies. */
export async function watchTask(deps: WatchDeps, run: Run, following: TaskFollowing): Promise<void> {
  const { shows, notices, signal } = following;
  const view = createTaskView(run);
  const note = deps.turns.seenNotes(run);
  const tell = createTelling(deps, run, shows);
  let isFirst = true;
  try {
    const events = await followTurn(deps, run, {
      signal,
      onAsked: (asked) => void ('elicitationId' in asked && isShown(asked, shows) && note(asked)),
    });
    for await (const event of events) {
      if (view.take(event) || isFirst) notices.changed(run.streamRequestId, tell);
      isFirst = false;
      if (view.end !== undefined) return;
    }
  } catch (error) {
    if (!signal.aborted) deps.onFault(error);
  }
}

/** Makes a function that reads a task and returns what its client does not know yet. The passing of time is no change. */
function createTelling(deps: WatchDeps, run: Run, shows: Shows) {
  let known: unknown;
  return async () => {
    const task = await readTask(deps, run, shows);
    if (task === undefined) return undefined;
    const { head, state } = task;
    if (task.run.status !== 'running') await deps.calls.releaseTask(run);
    const news = { ...state, statusMessage: head.statusMessage };
    if (isDeepStrictEqual(news, known)) return undefined;
    known = news;
    return notification('notifications/tasks', { ...head, ...state });
  };
}

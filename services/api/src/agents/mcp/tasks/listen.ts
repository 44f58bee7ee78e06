import { ProtocolError, ProtocolErrorCode, type SubscriptionFilter } from '@modelcontextprotocol/client';
import type { McpConnection } from '../connection.ts';
import type { McpLimits } from '../limits.ts';
import type { Pool } from '../pool.ts';
import { type ServerTarget, slotOf } from '../target.ts';
import type { TaskListener } from './notices.ts';

/** Why nothing is told of a task any more. `absent`: the server does not tell of tasks. */
export interface TaskSilence {
  readonly type: 'interrupted' | 'absent';
}

/** Listens to a task until the signal aborts or the stream ends. Never rejects. */
export type ListenToTask = (
  target: ServerTarget,
  taskId: string,
  listener: TaskListener,
  signal: AbortSignal,
) => Promise<TaskSilence>;

interface TaskListenDeps {
  readonly pool: Pool<ServerTarget>;
  readonly limits: Pick<McpLimits, 'callTimeoutMs'>;
}

const INTERRUPTED = { type: 'interrupted' } as const;
const ABSENT = { type: 'absent' } as const;
/** Refusals that the next request would get, too. */
const LASTING: readonly number[] = [ProtocolErrorCode.MethodNotFound, ProtocolErrorCode.InvalidParams];

export function createTaskListen({ pool, limits }: TaskListenDeps): ListenToTask {
  async function listenOn(
    { client, tasks }: McpConnection,
    taskId: string,
    listener: TaskListener,
    signal: AbortSignal,
  ): Promise<TaskSilence> {
    if (tasks.agrees === false) return ABSENT;
    let hasAgreed = false;
    const unfollow = tasks.follow(taskId, {
      changed: () => listener.changed(),
      agreed() {
        hasAgreed = true;
        listener.agreed();
      },
    });
    try {
      // The SDK types what the core can filter.
      const filter = { taskIds: [taskId] } as SubscriptionFilter;
      const stream = await client.listen(filter, { timeout: limits.callTimeoutMs, signal });
      tasks.agrees ??= hasAgreed;
      if (hasAgreed) await stream.closed;
      else await stream.close();
      return hasAgreed ? INTERRUPTED : ABSENT;
    } catch (error) {
      if (!(error instanceof ProtocolError) || !LASTING.includes(error.code)) return INTERRUPTED;
      tasks.agrees ??= false;
      return ABSENT;
    } finally {
      unfollow();
    }
  }

  return async (target, taskId, listener, signal) => {
    // A program is near, and its tasks are in one process of several.
    if (target.config.transport.type !== 'http') return ABSENT;
    // Nothing is asked on the stream, so it takes no call's slot.
    const shared = target.modes === undefined ? target : slotOf(target, 0);
    return pool
      .use(shared, (connection) => listenOn(connection, taskId, listener, signal))
      .catch(() => INTERRUPTED);
  };
}

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
/** The server would refuse the next request with these codes, too. */
const LASTING: readonly number[] = [ProtocolErrorCode.MethodNotFound, ProtocolErrorCode.InvalidParams];

/** Makes the listening to tasks, on the connection that people of a server share. */
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
      // The SDK's type has only the filters of the core, but it passes all on.
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
    // Parley runs a program itself, so a poll costs little, and any one of its processes may have the task.
    if (target.config.transport.type !== 'http') return ABSENT;
    // The server asks nobody on this stream, so it takes no slot of a call.
    const shared = target.modes === undefined ? target : slotOf(target, 0);
    return pool
      .use(shared, (connection) => listenOn(connection, taskId, listener, signal))
      .catch(() => INTERRUPTED);
  };
}

import { ProtocolError, ProtocolErrorCode, type SubscriptionFilter } from '@modelcontextprotocol/client';
import type { McpConnection } from '../connection.ts';
import type { McpLimits } from '../limits.ts';
import type { Pool } from '../pool.ts';
import { type ServerTarget, slotOf } from '../target.ts';
import type { TaskListener } from './notices.ts';

/** Why no more changes of a task are reported. `absent`: the server does not report changes of tasks. */
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
/** With these codes, the server would refuse the next request, too. */
const LASTING: readonly number[] = [ProtocolErrorCode.MethodNotFound, ProtocolErrorCode.InvalidParams];

/** Makes the listener for tasks. It uses the connection that people share at a server. */
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
      // The SDK's type knows only the core filters, but the SDK passes all filters on.
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
    // Parley runs the program itself. A poll costs little, and any of the program's processes may have the task.
    if (target.config.transport.type !== 'http') return ABSENT;
    // The server asks nobody on this stream, so it does not take the slot of a call.
    const shared = target.modes === undefined ? target : slotOf(target, 0);
    return pool
      .use(shared, (connection) => listenOn(connection, taskId, listener, signal))
      .catch(() => INTERRUPTED);
  };
}

import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { isRecord } from '@parley/core/domain/plain-record';

/** Receives the reports about a task. */
export interface TaskListener {
  /** The server has agreed to report changes of the task. */
  agreed(): void;
  /** The task has changed, or may have changed. */
  changed(): void;
}

/** The reports about tasks on one connection. The SDK knows neither these notifications nor the server's acknowledgement. */
export interface TaskNotices {
  /**
   * Whether the server has agreed to report on tasks; undefined before it was asked. A server that agrees may still omit a
   * task.
   */
  agrees: boolean | undefined;
  /** Calls `listener` for a task. The returned function ends this. */
  follow(taskId: string, listener: TaskListener): () => void;
  /** Reads each message of the server. */
  hear(message: JSONRPCMessage): void;
}

const CHANGED = 'notifications/tasks';
const AGREED = 'notifications/subscriptions/acknowledged';

/** Makes the reports of one connection. */
export function createTaskNotices(): TaskNotices {
  const listeners = new Map<TaskListener, string>();

  const about = (taskIds: ReadonlySet<unknown>) =>
    [...listeners].flatMap(([listener, followed]) => (taskIds.has(followed) ? [listener] : []));

  function hear(message: JSONRPCMessage): void {
    if (listeners.size === 0 || !('method' in message) || 'id' in message) return;
    const { method, params = {} } = message;
    if (method === CHANGED) {
      // A message that was too large has lost its parameters, so it may concern any task.
      const told = params.taskId === undefined ? [...listeners.keys()] : about(new Set([params.taskId]));
      for (const listener of told) listener.changed();
    }
    if (method === AGREED) for (const listener of about(agreedIn(params))) listener.agreed();
  }

  return {
    agrees: undefined,
    hear,
    follow(taskId, listener) {
      listeners.set(listener, taskId);
      return () => void listeners.delete(listener);
    },
  };
}

/** The ids of tasks in the server's acknowledgement. */
function agreedIn({ notifications }: Readonly<Record<string, unknown>>): ReadonlySet<unknown> {
  const taskIds = isRecord(notifications) ? notifications.taskIds : undefined;
  return new Set(Array.isArray(taskIds) ? taskIds : []);
}

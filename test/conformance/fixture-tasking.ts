import { randomUUID } from 'node:crypto';
import {
  CreateTaskResultV2Schema,
  DetailedTaskV2Schema,
  TASKS_EXTENSION_ID_V2,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  type Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** Carries a call on: `undefined` for its beginning, then with all answers so far. */
type Work = (
  answers: Readonly<Record<string, unknown>> | undefined,
  signal: AbortSignal,
) => Promise<CallToolResult | InputRequiredResult> | CallToolResult | InputRequiredResult;

interface KeptTask {
  readonly facts: object;
  readonly ending: AbortController;
  readonly work: Work;
  state: object;
  /** What it asked for last. */
  requests: object;
  answers: Record<string, unknown>;
}

/** Makes tasks of calls, as a server does that speaks the extension itself. */
export interface FixtureTasks {
  /** The reply that a task was made. */
  begin(work: Work): CallToolResult;
  /** Serves `tasks/get`, `tasks/update` and `tasks/cancel`. */
  register(server: Server): void;
}

export const TASKS_CAPABILITY = { [TASKS_EXTENSION_ID_V2]: {} };

export function createFixtureTasks(): FixtureTasks {
  const tasks = new Map<string, KeptTask>();

  function carryOn(task: KeptTask, answers?: Record<string, unknown>): void {
    const settle = (state: object) => {
      if (!task.ending.signal.aborted) task.state = state;
    };
    task.state = { status: 'working' };
    Promise.resolve()
      .then(() => task.work(answers, task.ending.signal))
      .then((result) => {
        if (!isInputRequiredResult(result)) return settle({ status: 'completed', result });
        task.requests = { ...result.inputRequests };
        settle({ status: 'input_required', inputRequests: task.requests });
      })
      .catch(({ code = -32603, message }) => settle({ status: 'failed', error: { code, message } }));
  }

  function find(taskId: unknown): KeptTask {
    const task = tasks.get(String(taskId));
    if (task === undefined) throw new ProtocolError(-32602, 'Task not found');
    return task;
  }

  return {
    begin(work) {
      const now = new Date().toISOString();
      const facts = {
        taskId: randomUUID(),
        createdAt: now,
        lastUpdatedAt: now,
        ttlMs: null,
        pollIntervalMs: 100,
      };
      const task = { facts, ending: new AbortController(), work, state: {}, requests: {}, answers: {} };
      tasks.set(facts.taskId, task);
      carryOn(task);
      return CreateTaskResultV2Schema.parse({ resultType: 'task', ...facts, ...task.state }) as never;
    },
    register(server) {
      const params = z.looseObject({ taskId: z.string() });
      server.setRequestHandler('tasks/get', { params }, async ({ taskId }) => {
        const { facts, state } = find(taskId);
        return DetailedTaskV2Schema.parse({ ...facts, ...state }) as never;
      });
      server.setRequestHandler('tasks/update', { params }, async ({ taskId }, { mcpReq }) => {
        const task = find(taskId);
        Object.assign(task.answers, mcpReq.inputResponses);
        const open = Object.entries(task.requests).filter(([key]) => !(key in task.answers));
        if (open.length === 0) carryOn(task, task.answers);
        else task.state = { status: 'input_required', inputRequests: Object.fromEntries(open) };
        return {};
      });
      server.setRequestHandler('tasks/cancel', { params }, async ({ taskId }) => {
        const task = find(taskId);
        task.ending.abort();
        task.state = { status: 'cancelled' };
        return {};
      });
    },
  };
}

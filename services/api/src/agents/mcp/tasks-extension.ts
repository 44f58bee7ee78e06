/** The extension by which a server may answer a call with a task (2026-07-28). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The result type of the reply that a task has been made. */
export const TASK_RESULT = 'task';

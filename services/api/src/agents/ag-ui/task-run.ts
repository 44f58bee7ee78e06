import type { TaskWork } from '../remote/task-work.ts';
import type { AgUiTaskState } from './checkpoint.ts';
import type { AgUiLink } from './link.ts';

/** An AG-UI agent's call that is under way. */
export type AgUiTaskRun = TaskWork<AgUiLink, AgUiTaskState>;

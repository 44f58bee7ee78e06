import type { TaskWork } from '../remote/task-work.ts';
import type { AgUiTaskState } from './checkpoint.ts';
import type { AgUiLink } from './link.ts';

/** A call of an AG-UI agent under way. */
export type AgUiTaskRun = TaskWork<AgUiLink, AgUiTaskState>;

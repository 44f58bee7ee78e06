import type { RemoteTaskRules } from '../a2a/task-run.ts';
import type { WorkClock } from '../loop/work-clock.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { AgUiTaskState } from './checkpoint.ts';
import type { AgUiLink } from './link.ts';

/** A call of an AG-UI agent under way. */
export interface AgUiTaskRun {
  readonly link: AgUiLink;
  readonly call: ToolCall;
  readonly rules: RemoteTaskRules;
  readonly clock: WorkClock;
  /** Aborted when the task must end, or when this pod must stop working on it. */
  readonly over: AbortSignal;
  readonly state: AgUiTaskState;
  /** Changes the state, and records it. Rejects when the run belongs to another pod. */
  save(change: Partial<AgUiTaskState>): Promise<void>;
}

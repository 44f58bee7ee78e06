import type { WorkClock } from '../loop/work-clock.ts';
import type { ToolCall, ToolOutcome } from '../tools/tool.ts';
import type { TaskCheckpoint } from './checkpoint.ts';
import type { RemoteLink } from './link.ts';
import type { RemoteQuestions } from './questions.ts';

export interface RemoteTaskRules {
  readonly questionsMax: number;
  readonly questionTimeoutSeconds: number;
}

/**
 * What came of it. `unauthorized`: the credential was refused, and the task can be continued with another one. `again`:
 * the task can be continued, with a credential that was read anew.
 */
export type RemoteTaskResult =
  | ToolOutcome
  | { readonly type: 'unauthorized'; readonly status: 401 | 403 }
  | { readonly type: 'again' };

/** A call of a remote agent under way. */
export interface TaskRun {
  readonly link: RemoteLink;
  readonly call: ToolCall;
  readonly rules: RemoteTaskRules;
  readonly questions: RemoteQuestions;
  readonly clock: WorkClock;
  /** Aborted when the task must end, or when this pod must stop working on it. */
  readonly over: AbortSignal;
  readonly state: TaskCheckpoint;
  /** Changes the state, and records it. Rejects when the run belongs to another pod. */
  save(change: Partial<TaskCheckpoint>): Promise<void>;
}

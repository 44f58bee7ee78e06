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

/** Where remote agents push updates of the task of one call. */
export interface CallPushes {
  /** An address for the updates of a task, and a new token that its sender must show. */
  addressOf(taskId: string): Promise<{ readonly url: string; readonly token: string }>;
  /**
   * Calls `onPush` for each push, whichever pod received it, and with `mayBeMissed` when pushes may have been missed. The
   * returned function ends that.
   */
  subscribe(onPush: (mayBeMissed: boolean) => void): () => void;
  /** Passes a push on to the pod that has the run now; a detached run is resumed. */
  forward(): Promise<void>;
}

/** A call of a remote agent under way. */
export interface TaskRun {
  readonly link: RemoteLink;
  readonly call: ToolCall;
  readonly rules: RemoteTaskRules;
  /** Absent where remote agents cannot push to this deployment. */
  readonly pushes?: CallPushes | undefined;
  readonly questions: RemoteQuestions;
  readonly clock: WorkClock;
  /** Aborted when the task must end, or when this pod must stop working on it. */
  readonly over: AbortSignal;
  readonly state: TaskCheckpoint;
  /** Changes the state, and records it. Rejects when the run belongs to another pod. */
  save(change: Partial<TaskCheckpoint>): Promise<void>;
}

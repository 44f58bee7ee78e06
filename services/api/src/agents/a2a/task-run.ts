import type { TaskWork } from '../remote/task-work.ts';
import type { TaskCheckpoint } from './checkpoint.ts';
import type { RemoteLink } from './link.ts';
import type { RemoteQuestions } from './questions.ts';

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
export interface TaskRun extends TaskWork<RemoteLink, TaskCheckpoint> {
  /** Absent where remote agents cannot push to this deployment. */
  readonly pushes?: CallPushes | undefined;
  readonly questions: RemoteQuestions;
}

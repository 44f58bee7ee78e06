import type { TaskWork } from '../remote/task-work.ts';
import type { TaskCheckpoint } from './checkpoint.ts';
import type { RemoteLink } from './link.ts';
import type { RemoteQuestions } from './questions.ts';

/** The push updates of the task of one call. */
export interface CallPushes {
  /** Creates an address for the updates of a task, and a token that the sender must present. */
  addressOf(taskId: string): Promise<{ readonly url: string; readonly token: string }>;
  /**
   * Calls `onPush` for each push, on whichever pod it was received, with `mayBeMissed` when pushes may have been lost. The
   * returned function ends the subscription.
   */
  subscribe(onPush: (mayBeMissed: boolean) => void): () => void;
  /** Passes a push on to the pod that now owns the run. A detached run is resumed. */
  forward(): Promise<void>;
}

/** A remote agent's call that is under way. */
export interface TaskRun extends TaskWork<RemoteLink, TaskCheckpoint> {
  /** Absent where remote agents cannot push to this deployment. */
  readonly pushes?: CallPushes | undefined;
  readonly questions: RemoteQuestions;
}

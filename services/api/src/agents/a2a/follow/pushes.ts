import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import { messageIdOf } from '../checkpoint.ts';
import type { TaskRun } from '../task-run.ts';
import type { Follower } from './follower.ts';
import type { TaskWake } from './wake.ts';

/** The pushes of a task while this pod has its run. */
export interface PushFollower {
  /** Registers at the agent, once. It may refuse: then the task is polled and streamed as without pushes. */
  register(): void;
  /** What was pushed so far was read from the task and attended to. */
  attended(): void;
  /** Passes on what came while this pod lost the run. */
  close(): void;
}

const NONE: PushFollower = { register: () => undefined, attended: () => undefined, close: () => undefined };

/** Wakes the reader of a task when its agent pushes. A push is a hint: its content is read from the task. */
export function followPushes(
  { link, call, pushes, state }: TaskRun,
  { wake, follower, signal }: { wake: TaskWake; follower: Follower; signal: AbortSignal },
): PushFollower {
  if (pushes === undefined || !link.offersPush || !link.agent.mayPush) return NONE;
  const taskId = state.taskId ?? '';
  let isRegistered = false;
  let received = 0;
  let handled = 0;
  const unsubscribe = pushes.subscribe((mayBeMissed) => {
    // Until its first push, an agent may be unable to reach this deployment. The task is polled as without pushes.
    if (mayBeMissed && received === 0) return;
    received += 1;
    follower.pushed();
    wake.wake();
  });
  return {
    register() {
      if (isRegistered) return;
      isRegistered = true;
      const target = { id: messageIdOf(call.callKey, 'push'), taskId, ...pushes.addressOf(taskId) };
      link.registerPush(target, signal).catch(() => undefined);
    },
    attended() {
      handled = received;
    },
    close() {
      unsubscribe();
      if (handled < received && belongsToAnotherPod(call.signal)) pushes.forward().catch(() => undefined);
    },
  };
}

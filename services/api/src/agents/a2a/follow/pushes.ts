import { whenAborted } from '@parley/shared/async/release-on-abort';
import type { TaskWake } from '@parley/shared/async/task-wake';
import { RunDetachedError } from '@parley/shared/runs/interruption';
import { messageIdOf } from '../../remote/message-ids.ts';
import type { TaskRun } from '../task-run.ts';
import type { Follower } from './follower.ts';

/** The push updates of a task while this pod owns its run. */
interface PushFollower {
  /** Registers at the agent, once. If the agent refuses, the task is polled and streamed as without pushes. */
  register(): void;
  /** Call it before the task is read, and call its result once what was read has been handled. */
  reading(): () => void;
  /** Ends the subscription. If the run is being detached, unhandled pushes are first passed on to its next owner. */
  close(): void;
}

const NONE: PushFollower = {
  register: () => undefined,
  reading: () => () => undefined,
  close: () => undefined,
};
/** How long after a detach a push may still reach this pod, in ms. */
const LATE_MS = 1_000;
/** How long to wait for the run's release, in ms. */
const RELEASE_MS = 60_000;

/** Wakes the reader of a task when its agent pushes. A push is only a hint: the content is read from the task. */
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
    // Until the first push arrives, the agent may be unable to reach this deployment, so the task is polled as without pushes.
    if (mayBeMissed && received === 0) return;
    received += 1;
    follower.pushed();
    wake.wake();
  });
  function passOn(): void {
    if (handled === received) return;
    handled = received;
    pushes?.forward().catch(() => undefined);
  }
  return {
    register() {
      if (isRegistered) return;
      isRegistered = true;
      const id = messageIdOf(call.callKey, 'push');
      pushes
        .addressOf(taskId)
        .then((address) => link.registerPush({ id, taskId, ...address }, signal))
        .catch(() => undefined);
    },
    reading() {
      const before = received;
      return () => {
        handled = before;
      };
    },
    close() {
      // If the run is not being detached, the pod that continues it reads the task at once.
      if (!(call.signal.reason instanceof RunDetachedError)) return unsubscribe();
      const unreleased = setTimeout(unsubscribe, RELEASE_MS).unref();
      whenAborted(call.released, () => {
        clearTimeout(unreleased);
        passOn();
        setTimeout(() => {
          unsubscribe();
          passOn();
        }, LATE_MS).unref();
      });
    },
  };
}

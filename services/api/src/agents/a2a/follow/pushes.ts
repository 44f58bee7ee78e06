import type { TaskWake } from '@parley/shared/async/task-wake';
import { RunDetachedError } from '@parley/shared/runs/interruption';
import { messageIdOf } from '../../remote/message-ids.ts';
import type { TaskRun } from '../task-run.ts';
import type { Follower } from './follower.ts';

/** The pushes of a task while this pod has its run. */
interface PushFollower {
  /** Registers at the agent, once. It may refuse: then the task is polled and streamed as without pushes. */
  register(): void;
  /** Called before the task is read. Call the result once what was read is attended to. */
  reading(): () => void;
  /** Ends the subscription. While the run is being detached, it first passes on what was not attended to. */
  close(): void;
}

const NONE: PushFollower = {
  register: () => undefined,
  reading: () => () => undefined,
  close: () => undefined,
};
/** A push that was published before the run was detached may arrive so long after its pod learns of that, in ms. */
const LATE_MS = 1_000;
/** How long a release is awaited, in ms. */
const RELEASE_MS = 60_000;

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
      // A pod that continues the run at once reads the task by itself.
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

function whenAborted(signal: AbortSignal, then: () => void): void {
  if (signal.aborted) then();
  else signal.addEventListener('abort', then, { once: true });
}

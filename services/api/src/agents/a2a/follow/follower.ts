/**
 * Decides when a task is read again, from its event stream or by polling. Reading and handling the task is in `attend.ts`, push
 * updates are in `pushes.ts`.
 */

import type { TaskWake } from '@parley/shared/async/task-wake';
import type { EventStream } from '../exchanges.ts';
import type { RemoteLink } from '../link.ts';

/**
 * Keeps a stream of a task's events open, and wakes its reader at each event. Events are only hints: the reader fetches the
 * task. Without a stream, the reader polls.
 */
export interface Follower {
  /** How long to wait for an event before the task is read anyway, in ms. */
  nextReadMs(isPersonAsked: boolean): number;
  /** Follows the event stream that the reply to a message opened. */
  adopt(events: EventStream | undefined): void;
  /** Reports that the task has changed, so that it is read more often for a while. */
  changed(): void;
  /** Reports that the agent pushes updates, so that the task is polled less often. */
  pushed(): void;
  close(): void;
}

const FIRST_POLL_MS = 200;
const POLL_MAX_MS = 5_000;
const POLL_ASKED_MAX_MS = 15_000;
/** The first polling pause for agents that push. Polling then only has to find lost pushes. */
const FIRST_POLL_PUSHED_MS = 5_000;
const POLL_PUSHED_MAX_MS = 30_000;
const ARTIFACT_MS = 2_000;
/** A stream that is silent for this long may be dead, so the task is read anyway. */
const STREAM_SILENT_MS = 20_000;
const RESUBSCRIBE_MAX_MS = 30_000;

export function createFollower(
  link: Pick<RemoteLink, 'isStreaming' | 'subscribe'>,
  taskId: string,
  wake: TaskWake,
  signal: AbortSignal,
): Follower {
  let current: EventStream | undefined;
  let isOver = false;
  let isPushed = false;
  let pollMs = FIRST_POLL_MS;
  let resubscribeMs = FIRST_POLL_MS;
  let timer: NodeJS.Timeout | undefined;
  let artifactTimer: NodeJS.Timeout | undefined;

  /** Parts of an artifact arrive often, so the task is read at intervals instead of at each part. */
  function wakeLater(): void {
    artifactTimer ??= setTimeout(() => {
      artifactTimer = undefined;
      wake.wake();
    }, ARTIFACT_MS);
  }

  function follow(events: EventStream): void {
    current = events;
    const startedAt = performance.now();
    void events
      .read((type) => (type === 'artifact' ? wakeLater() : wake.wake()))
      .then(() => {
        if (isOver || current !== events) return;
        if (performance.now() - startedAt > resubscribeMs) resubscribeMs = FIRST_POLL_MS;
        current = undefined;
        wake.wake();
        later();
      });
  }

  /**
   * Some agents end the stream of a task that waits for input. So the pause before each new subscription grows, until a stream
   * lasts or the task changes.
   */
  function later(): void {
    clearTimeout(timer);
    timer = setTimeout(subscribe, resubscribeMs);
    resubscribeMs = Math.min(resubscribeMs * 2, RESUBSCRIBE_MAX_MS);
  }

  function subscribe(): void {
    if (!isOver && current === undefined) follow(link.subscribe(taskId, signal));
  }

  if (link.isStreaming) timer = setTimeout(subscribe, 0);
  return {
    nextReadMs(isPersonAsked) {
      if (current !== undefined) return STREAM_SILENT_MS;
      const now = pollMs;
      const maxMs = isPersonAsked ? POLL_ASKED_MAX_MS : POLL_MAX_MS;
      pollMs = Math.min(pollMs * 2, isPushed ? POLL_PUSHED_MAX_MS : maxMs);
      return now;
    },
    adopt(events) {
      if (events === undefined) return;
      clearTimeout(timer);
      current?.close();
      follow(events);
    },
    changed() {
      pollMs = isPushed ? FIRST_POLL_PUSHED_MS : FIRST_POLL_MS;
      resubscribeMs = FIRST_POLL_MS;
    },
    pushed() {
      isPushed = true;
      pollMs = Math.max(pollMs, FIRST_POLL_PUSHED_MS);
    },
    close() {
      isOver = true;
      clearTimeout(timer);
      clearTimeout(artifactTimer);
      current?.close();
    },
  };
}

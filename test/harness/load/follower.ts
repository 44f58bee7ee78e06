import { randomUUID } from 'node:crypto';
import type { ElicitationStatus, Owner } from '../history/events.ts';
import type { HistoryRecorder } from '../history/recorder.ts';
import { readEvents } from '../http/read-events.ts';
import { sleep } from './driver.ts';

export interface FollowOptions {
  readonly fetch: typeof fetch;
  readonly history: HistoryRecorder;
  readonly owner: Owner;
  readonly token: string;
  readonly streamRequestId: string;
  /** Leave and come back on another pod after about this long, so that resuming is part of every run. */
  readonly reconnectEveryMs: number;
}

/** Reads one stream as a browser would: resumes by Last-Event-ID on any pod, until it is stopped. */
export function follow(options: FollowOptions): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const running = run(options, stopped.signal);
  return {
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

async function run(options: FollowOptions, stopped: AbortSignal): Promise<void> {
  let lastEventId: string | undefined;
  while (!stopped.aborted) {
    lastEventId = await connectOnce(options, lastEventId, stopped);
    // So long that events come in the meantime, and that an outage is not a flood of attempts.
    if (!stopped.aborted) await sleep(100 + Math.random() * 200);
  }
}

async function connectOnce(
  options: FollowOptions,
  resumeAfter: string | undefined,
  stopped: AbortSignal,
): Promise<string | undefined> {
  const { history, owner, streamRequestId } = options;
  const connectionId = randomUUID();
  let lastEventId = resumeAfter;
  // This reference is needed: Node 20 may collect a timeout signal that only AbortSignal.any holds, and then it never fires.
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  const timer = setTimeout(leave, options.reconnectEveryMs * (0.5 + Math.random()));
  stopped.addEventListener('abort', leave);
  try {
    const response = await options.fetch(`http://pod/v1/streams/${streamRequestId}/events`, {
      headers: {
        authorization: `Bearer ${options.token}`,
        ...(resumeAfter !== undefined && { 'last-event-id': resumeAfter }),
      },
      signal: leaving.signal,
    });
    if (response.status !== 200) return lastEventId;
    history.record({
      type: 'connection-open',
      connectionId,
      subscriber: owner,
      streamRequestId,
      lastEventId: resumeAfter,
      at: performance.now(),
    });
    await readEvents(response, ({ id, event, data }) => {
      if (event === 'stream-reset') {
        history.record({ type: 'stream-reset', connectionId, at: performance.now() });
        lastEventId = undefined;
        return;
      }
      const elicitation = JSON.parse(data) as Record<string, string>;
      if (id === undefined) return;
      lastEventId = id;
      history.record({
        type: 'stream-event',
        connectionId,
        subscriber: owner,
        streamRequestId,
        eventId: id,
        name: event ?? '',
        elicitationId: elicitation.elicitationId ?? '',
        status: elicitation.status as ElicitationStatus,
        ownerUserId: elicitation.userId ?? '',
        at: performance.now(),
      });
    });
  } catch {
    // A disconnect, a reset and a dead pod all end the connection; the next connection resumes.
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', leave);
  }
  history.record({ type: 'connection-close', connectionId, at: performance.now() });
  return lastEventId;
}

/** Keeps the messages of a turn up to date in Slack. Converting its events to messages is in `mapping/reply.ts`. */

import { setTimeout as sleep } from 'node:timers/promises';
import { isParleyError } from '@parley/core/domain/errors';
import { parseFeedPosition } from '@parley/core/domain/events';
import { bucketOf, formatStreamPath, type StreamRef } from '@parley/core/domain/ids';
import type { LiveItem, WatchItem } from '@parley/shared/elicitations/watch';
import type { OutboxResult, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import type { WebClient } from '@slack/web-api';
import { followTurn } from '../../../turns/follow.ts';
import { type ReplayFacts, readReplayFacts } from '../../../turns/replay.ts';
import type { SlackMessage } from '../mapping/question.ts';
import { createReply, replacedMessage, type ThreadReply } from '../mapping/reply.ts';
import type { SlackThread } from '../store/threads.ts';
import { SLACK, SLICE_MS, type SlackDeliveryDeps } from './deps.ts';
import { failed, faultOf } from './faults.ts';
import { postOnce } from './post.ts';
import { clientFor } from './reach.ts';

// The interval between edits. Slack accepts about 50 edits a minute from an app in a workspace (Tier 3), and one message per
// second in a channel.
const EDIT_MS = 1_200;

/** The task that updates the messages of a turn. */
export function turnTask(stream: StreamRef): OutboxTask {
  return { kind: SLACK, subject: formatStreamPath(stream), bucket: bucketOf(stream) };
}

/**
 * Follows a turn for a limited time and updates its messages: by an edit every second while text arrives, and at the end.
 * Nothing is shown until the whole present feed has been read, so a later slice never shows less than an earlier one. Ends when
 * the turn waits; the end of the wait adds the task again.
 */
export async function deliverTurn(
  deps: SlackDeliveryDeps,
  stream: StreamRef,
  attempt: number,
): Promise<OutboxResult> {
  const place = await deps.places.turn(stream);
  if (place === undefined) return 'done';
  const client = await clientFor(deps, stream, place);
  if (client === undefined) return 'done';
  const slice = new AbortController();
  const endSlice = () => slice.abort();
  const reply = createReply();
  const messages = createMessages(deps, client, stream, place);
  await setStatus(client, place, 'is working…');
  const timer = setTimeout(endSlice, SLICE_MS);
  let isCaughtUp = false;
  let isOver = false;
  const { reading, caughtUp } = read(deps, stream, reply, slice.signal);
  caughtUp.then(() => {
    isCaughtUp = true;
  });
  const end = () => {
    isOver = true;
  };
  reading.then(end, end);
  try {
    await Promise.race([reading, caughtUp]);
    while (!isOver) {
      await messages.flush(reply);
      await Promise.race([reading, sleep(EDIT_MS, undefined, { ref: false })]);
    }
    const outcome = await reading;
    if (outcome === 'gone') return 'done';
    if (reply.status === 'superseded' || (reply.status === 'working' && !isCaughtUp)) return { deferInMs: 0 };
    const result = await messages.flush(reply, true);
    if (result !== undefined) return result;
    if (reply.status === 'working') return { deferInMs: 0 };
    await setStatus(client, place, '');
    return 'done';
  } catch (error) {
    return failed(deps, error, stream.streamRequestId, attempt);
  } finally {
    clearTimeout(timer);
    endSlice();
  }
}

/** Reads the turn into the reply. `caughtUp` resolves once the reply contains everything that the feed had at the start. */
function read(deps: SlackDeliveryDeps, stream: StreamRef, reply: ThreadReply, signal: AbortSignal) {
  let passed: () => void = () => undefined;
  const caughtUp = new Promise<void>((resolve) => {
    passed = resolve;
  });
  return { reading: readUntil(deps, stream, reply, { signal, onCaughtUp: passed }), caughtUp };
}

/** Reads the turn into the reply until it ends, waits or is superseded, or the slice is over. */
async function readUntil(
  deps: SlackDeliveryDeps,
  stream: StreamRef,
  reply: ThreadReply,
  { signal, onCaughtUp }: { readonly signal: AbortSignal; readonly onCaughtUp: () => void },
): Promise<'read' | 'gone'> {
  try {
    const facts = await readReplayFacts(deps, stream);
    let isCaughtUp = false;
    const passed = () => {
      isCaughtUp = true;
      onCaughtUp();
    };
    const engine: typeof deps.engine = {
      ...deps.engine,
      watchLive: async (input) => untilPassed(await deps.engine.watchLive(input), facts.last, passed),
    };
    for await (const event of await followTurn({ ...deps, engine }, stream, { signal, facts })) {
      // The replay already omits what earlier restarts superseded.
      const isRestart = event.type === 'turn' && event.event.type === 'step-restarted';
      if (isRestart && !isCaughtUp) continue;
      reply.take(event);
      if (reply.status !== 'working') break;
    }
    return 'read';
  } catch (error) {
    if (signal.aborted) return 'read';
    if (isParleyError(error, 'not_found')) return 'gone';
    throw error;
  }
}

/** Passes items on, and reports when the reader has read the one at `last`. */
async function* untilPassed<Item extends WatchItem | LiveItem>(
  items: AsyncIterable<Item>,
  last: ReplayFacts['last'],
  onPassed: () => void,
): AsyncGenerator<Item, void> {
  if (last === undefined) onPassed();
  for await (const item of items) {
    yield item;
    const at = 'id' in item ? parseFeedPosition(item.id) : undefined;
    if (at !== undefined && (at.epoch !== last?.epoch || at.seq >= last.seq)) onPassed();
  }
}

/** The messages of one turn that this process knows. */
function createMessages(deps: SlackDeliveryDeps, client: WebClient, stream: StreamRef, place: SlackThread) {
  const shown = new Map<number, string>();
  let pausedUntil = 0;

  /** Updates one message. Returns a time if another process is still posting it. */
  async function bring(index: number, message: SlackMessage): Promise<number | undefined> {
    const text = JSON.stringify(message);
    if (shown.get(index) === text) return undefined;
    const delivery = `${stream.streamRequestId}/${index}`;
    const result = await postOnce({ ...deps, client }, { ...place, owner: stream }, delivery, message);
    if ('deferInMs' in result) return result.deferInMs;
    if (!result.isNew) await client.chat.update({ ...result.posted, ...message });
    shown.set(index, text);
    return undefined;
  }

  async function bringAll(messages: readonly SlackMessage[]): Promise<number | undefined> {
    for (const [index, message] of messages.entries()) {
      const deferInMs = await bring(index, message);
      if (deferInMs !== undefined) return deferInMs;
    }
    return undefined;
  }

  /** Empties messages that are no longer needed, because a repeated step has a shorter text. */
  async function clearFrom(first: number): Promise<void> {
    for (let index = first; ; index += 1) {
      const posted = await deps.places.posted(stream, `${stream.streamRequestId}/${index}`);
      if (posted === undefined) return;
      await client.chat.update({ ...posted, ...replacedMessage() });
    }
  }

  return {
    /** `isLast`: everything must be shown. Returns what remains to be done. */
    async flush(reply: ThreadReply, isLast = false): Promise<OutboxResult | undefined> {
      if (reply.status === 'superseded' || (!isLast && deps.now() < pausedUntil)) return undefined;
      try {
        const messages = reply.messages(stream.streamRequestId);
        const deferInMs = await bringAll(messages);
        if (deferInMs !== undefined) return isLast ? { deferInMs } : undefined;
        if (isLast && reply.status !== 'working') await clearFrom(messages.length);
        return undefined;
      } catch (error) {
        const fault = faultOf(error);
        if (isLast || fault.type !== 'limited') throw error;
        pausedUntil = deps.now() + fault.retryAfterMs;
        return undefined;
      }
    },
  };
}

/** Shows or clears the app's status. It is only a hint, which Slack accepts only in threads with the app alone. */
async function setStatus(client: WebClient, { channel, thread }: SlackThread, status: string): Promise<void> {
  if (thread === undefined) return;
  await client.assistant.threads
    .setStatus({ channel_id: channel, thread_ts: thread, status })
    .catch(() => undefined);
}

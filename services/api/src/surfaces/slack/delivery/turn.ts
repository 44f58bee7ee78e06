import { isParleyError } from '@parley/shared/domain/errors';
import type { StreamRef } from '@parley/shared/domain/ids';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import type { WebClient } from '@slack/web-api';
import { followTurn } from '../../../turns/follow.ts';
import { readReplayFacts } from '../../../turns/replay.ts';
import type { SlackMessage } from '../mapping/question.ts';
import { createReply, type ThreadReply } from '../mapping/reply.ts';
import type { SlackThread } from '../store/threads.ts';
import { SLICE_MS, type SlackDeliveryDeps } from './deps.ts';
import { faultOf } from './faults.ts';
import { postOnce } from './post.ts';
import { failed } from './question.ts';

// Slack takes about 50 edits a minute of an app in a workspace (Tier 3), and one message a second in a channel.
const EDIT_MS = 1_200;

/**
 * Follows a turn for a while and brings its messages up to date: by an edit every second while text comes, and at its end.
 * Ends when the turn waits; the end of the wait notes the task again.
 */
export async function deliverTurn(
  deps: SlackDeliveryDeps,
  stream: StreamRef,
  attempt: number,
): Promise<OutboxResult> {
  const place = await deps.places.turn(stream);
  if (place === undefined) return 'done';
  const installation = await deps.installations.find(place);
  if (installation === undefined) return 'done';
  const client = await deps.clientOf(installation.botToken);
  const stop = new AbortController();
  const slice = AbortSignal.any([AbortSignal.timeout(SLICE_MS), stop.signal]);
  const reply = createReply();
  const messages = createMessages(deps, client, stream, place);
  await setStatus(client, place, 'is working…');
  const reading = read(deps, stream, reply, slice);
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  reading.then(end, end);
  try {
    while (!isOver) {
      await messages.flush(reply);
      await Promise.race([reading, sleepFor(EDIT_MS)]);
    }
    const outcome = await reading;
    if (outcome === 'gone') return 'done';
    if (reply.status === 'superseded') return { deferInMs: 0 };
    const result = await messages.flush(reply, true);
    if (result !== undefined) return result;
    if (reply.status === 'working') return { deferInMs: 0 };
    await setStatus(client, place, '');
    return 'done';
  } catch (error) {
    return failed(deps, error, stream.streamRequestId, attempt);
  } finally {
    stop.abort();
  }
}

/** Reads the turn into the reply until it ends, waits, is void, or the slice is over. */
async function read(
  deps: SlackDeliveryDeps,
  stream: StreamRef,
  reply: ThreadReply,
  signal: AbortSignal,
): Promise<'read' | 'gone'> {
  try {
    const facts = await readReplayFacts(deps, stream);
    for await (const event of await followTurn(deps, stream, { signal, facts })) {
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

/** The messages of one turn, as far as this process knows them. */
function createMessages(deps: SlackDeliveryDeps, client: WebClient, stream: StreamRef, place: SlackThread) {
  const shown = new Map<number, string>();
  let pausedUntil = 0;

  /** Brings one message up to date. Returns a time when another process is still posting it. */
  async function bring(index: number, message: SlackMessage): Promise<number | undefined> {
    const text = JSON.stringify(message);
    if (shown.get(index) === text) return undefined;
    const delivery = `${stream.streamRequestId}/${index}`;
    const result = await postOnce({ ...deps, client }, stream, place, delivery, message);
    if ('deferInMs' in result) return result.deferInMs;
    if (!result.isNew) await client.chat.update({ ...result.posted, ...message });
    shown.set(index, text);
    return undefined;
  }

  return {
    /** `isLast`: nothing may be left out; then returns what remains to be done. */
    async flush(reply: ThreadReply, isLast = false): Promise<OutboxResult | undefined> {
      if (reply.status === 'superseded' || (!isLast && deps.now() < pausedUntil)) return undefined;
      try {
        for (const [index, message] of reply.messages(stream.streamRequestId).entries()) {
          const deferInMs = await bring(index, message);
          if (deferInMs !== undefined) return isLast ? { deferInMs } : undefined;
        }
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

/** Shows or clears what the app is doing. Only a hint, which Slack takes in threads with the app alone. */
async function setStatus(client: WebClient, { channel, thread }: SlackThread, status: string): Promise<void> {
  if (thread === undefined) return;
  await client.assistant.threads
    .setStatus({ channel_id: channel, thread_ts: thread, status })
    .catch(() => undefined);
}

function sleepFor(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

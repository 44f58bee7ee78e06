/** Posts a message to Slack at most once for each delivery. What the message contains is decided by the callers. */

import type { Owner } from '@parley/core/domain/ids';
import type { WebClient } from '@slack/web-api';
import { METADATA } from '../mapping/names.ts';
import type { SlackMessage } from '../mapping/question.ts';
import type { Posted, SlackThread, SlackThreads } from '../store/threads.ts';
import { faultOf } from './faults.ts';

interface PostDeps {
  readonly places: SlackThreads;
  readonly client: Pick<WebClient, 'chat' | 'conversations'>;
  /** Name of this pod. */
  readonly pod: string;
}

// How long an intent counts as under way. It is longer than a Web API call may take, so that no message is posted twice.
const UNDER_WAY_MS = 15_000;
const POLL_MS = 1_000;
const REPLIES_MAX = 100;

/** The message of a delivery; or how long another process may still be posting it, in ms. */
export type PostResult =
  | { readonly posted: Posted; readonly isNew: boolean }
  | { readonly deferInMs: number };

/**
 * Posts a message once for each delivery id, even if pods compete or die. The intent is recorded before the call, and the
 * message after it. If only the intent is found, its pod may have died in between: the message is then searched for in the
 * thread by its metadata, and posted only if it is missing. Throws what the Web API throws.
 */
export async function postOnce(
  deps: PostDeps,
  { owner, ...place }: Pick<SlackThread, 'channel' | 'thread'> & { readonly owner: Owner },
  delivery: string,
  message: SlackMessage,
): Promise<PostResult> {
  const { places, pod } = deps;
  const known = await places.posted(owner, delivery);
  if (known !== undefined) return { posted: known, isNew: false };
  const own = `${pod}/${crypto.randomUUID()}`;
  const { first, ageMs } = await places.intend(owner, delivery, own);
  const endIntent = () => places.endIntent(owner, delivery, first);
  const record = async (posted: Posted) => {
    const recorded = await places.putPosted(owner, delivery, posted);
    await endIntent();
    return recorded;
  };
  if (first.by !== own) {
    if (ageMs < UNDER_WAY_MS) return { deferInMs: POLL_MS };
    const found = await findPosted(deps, place, delivery, first.at);
    if (found !== undefined) return { posted: await record(found), isNew: false };
    await endIntent();
    return { deferInMs: 0 };
  }
  // Another process may have recorded its message since.
  const recorded = await places.posted(owner, delivery);
  if (recorded !== undefined) {
    await endIntent();
    return { posted: recorded, isNew: false };
  }
  const posted = await post(deps, place, delivery, message).catch(async (error: unknown) => {
    // A refusal proves that nothing was posted; a missing reply does not.
    if (faultOf(error).type !== 'unavailable') await endIntent();
    throw error;
  });
  return { posted: await record(posted), isNew: true };
}

async function post(
  { client }: PostDeps,
  { channel, thread }: Pick<SlackThread, 'channel' | 'thread'>,
  delivery: string,
  message: SlackMessage,
): Promise<Posted> {
  const reply = await client.chat.postMessage({
    channel,
    ...(thread !== undefined && { thread_ts: thread }),
    ...message,
    unfurl_links: false,
    unfurl_media: false,
    metadata: { event_type: METADATA, event_payload: { delivery } },
  });
  return { channel: reply.channel ?? channel, ts: reply.ts ?? '' };
}

/** Searches for the message of a delivery among the newest in its thread or channel. */
async function findPosted(
  { client }: PostDeps,
  { channel, thread }: Pick<SlackThread, 'channel' | 'thread'>,
  delivery: string,
  since: number,
): Promise<Posted | undefined> {
  const options = {
    channel,
    limit: REPLIES_MAX,
    include_all_metadata: true,
    // The margin allows for Slack's clock being slow.
    oldest: String(Math.floor(since / 1000) - 120),
  };
  const { messages = [] } =
    thread === undefined
      ? await client.conversations.history(options)
      : await client.conversations.replies({ ...options, ts: thread });
  for (const { ts, metadata } of messages) {
    const payload = metadata?.event_payload as { readonly delivery?: unknown } | undefined;
    if (metadata?.event_type === METADATA && payload?.delivery === delivery && ts !== undefined)
      return { channel, ts };
  }
  return undefined;
}

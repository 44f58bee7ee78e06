import type { Owner } from '@parley/shared/domain/ids';
import type { WebClient } from '@slack/web-api';
import type { SlackMessage } from '../mapping/question.ts';
import type { SlackThread } from '../store/threads.ts';
import type { SlackDeliveryDeps } from './deps.ts';
import { type PostResult, postOnce } from './post.ts';

/** A question or an approval, and its message as it must look now. */
export interface ShownRecord {
  readonly id: string;
  readonly owner: Owner;
  /** True until its first change: a message that was posted by then is up to date. */
  readonly isUntouched: boolean;
  readonly isOpen: boolean;
  readonly message: SlackMessage;
}

/**
 * Posts the message of a record while it is open, and edits it after each change. Undefined for one that ended before its
 * message was posted, which needs none. Throws what the Web API throws.
 */
export async function showRecord(
  deps: SlackDeliveryDeps,
  client: WebClient,
  record: ShownRecord,
  place: SlackThread,
): Promise<PostResult | undefined> {
  const { id, owner, isUntouched, isOpen, message } = record;
  if (!isOpen && (await deps.places.posted(owner, id)) === undefined) {
    const isUnderWay = await mayBePosting(deps, owner, id);
    if (!isUnderWay) return undefined;
  }
  const result = await postOnce({ ...deps, client }, owner, place, id, message);
  if ('posted' in result && !result.isNew && !isUntouched)
    await client.chat.update({ ...result.posted, ...message });
  return result;
}

/** True when some process has begun to post the message and has not recorded it. */
async function mayBePosting(
  { places, pod, now }: SlackDeliveryDeps,
  owner: Owner,
  id: string,
): Promise<boolean> {
  const probe = { by: `${pod}/probe/${crypto.randomUUID()}`, at: now() };
  const first = await places.intend(owner, id, probe);
  if (first.by !== probe.by) return true;
  await places.abandon(owner, id, probe);
  return false;
}

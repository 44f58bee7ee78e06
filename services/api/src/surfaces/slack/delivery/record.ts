/** Keeps the message of a question or approval up to date in Slack. Its blocks are made in `mapping/`. */

import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import type { Owner } from '@parley/core/domain/ids';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import type { WebClient } from '@slack/web-api';
import type { SlackMessage } from '../mapping/question.ts';
import type { SlackThread } from '../store/threads.ts';
import type { SlackDeliveryDeps } from './deps.ts';
import { failed } from './faults.ts';
import { type NoticePlan, planNotice, sendReminders } from './notice.ts';
import { type PostResult, postOnce } from './post.ts';
import { clientFor, directOf } from './reach.ts';
import { turnTask } from './turn.ts';

/** A question or an approval, and its message in its present state. */
interface ShownRecord {
  readonly row: RowOf<FamilyTypes>;
  /** The Redis clock, read together with the row. */
  readonly now: number;
  readonly isOpen: boolean;
  /** True until its first change. A message that is already posted is then up to date. */
  readonly isUntouched: boolean;
  readonly messageAt: (place: SlackThread) => SlackMessage;
  /** Called with the message's place once the message is up to date. */
  readonly afterwards?: (client: WebClient, place: SlackThread) => Promise<void>;
}

/**
 * Updates the message of a record: in the thread of its turn, or as a notice if it was asked elsewhere. The message is posted
 * while the record is open, and edited after each change.
 */
export async function deliverRecord(
  deps: SlackDeliveryDeps,
  record: ShownRecord,
  attempt: number,
): Promise<OutboxResult> {
  const { row, isOpen, now } = record;
  const ofTurn = await deps.places.turn(row.definition);
  // The turn's reply continues in a message below the record.
  if (ofTurn !== undefined && !isOpen) await deps.outbox.add(turnTask(row.definition), row.definition.tenant);
  try {
    const plan = ofTurn === undefined ? await planNotice(deps, row, isOpen, now) : { place: ofTurn };
    if (!('place' in plan)) return plan.result;
    const client = await clientFor(deps, row.definition, plan.place);
    if (client === undefined) return 'done';
    return await show(deps, client, record, plan);
  } catch (error) {
    return failed(deps, error, row.id, attempt);
  }
}

async function show(
  deps: SlackDeliveryDeps,
  client: WebClient,
  record: ShownRecord,
  plan: NoticePlan,
): Promise<OutboxResult> {
  const { row, isOpen, isUntouched, now } = record;
  const place = await inDirectMessage(client, plan.place);
  const message = record.messageAt(place);
  const shown = { id: row.id, owner: row.definition, isUntouched, isOpen, message };
  const result = await showMessage(deps, client, shown, place);
  if (result === undefined) return 'done';
  if ('deferInMs' in result) return result;
  await record.afterwards?.(client, place);
  if (!isOpen || plan.reminders === undefined) return 'done';
  await deps.places.putNotice(row.definition, result.posted, row.id);
  return sendReminders({ ...deps, client }, row, plan, { ...result, now });
}

/** A notice goes to direct messages, which are opened with the person. */
async function inDirectMessage(client: WebClient, place: SlackThread): Promise<SlackThread> {
  if (place.channel !== place.userId) return place;
  return { ...place, channel: (await directOf(client, place)) ?? place.channel };
}

/** A message that is edited in place. `id` identifies it among the messages of its owner. */
interface EditedMessage extends Pick<ShownRecord, 'isOpen' | 'isUntouched'> {
  readonly id: string;
  readonly owner: Owner;
  readonly message: SlackMessage;
}

/**
 * Posts a message while its subject is open, and edits it after each change. Undefined if the subject ended before its message
 * was posted: it then needs none. Throws what the Web API throws.
 */
export async function showMessage(
  deps: SlackDeliveryDeps,
  client: WebClient,
  { id, owner, isUntouched, isOpen, message }: EditedMessage,
  place: SlackThread,
): Promise<PostResult | undefined> {
  if (!isOpen && (await deps.places.posted(owner, id)) === undefined) {
    const isUnderWay = await mayBePosting(deps, owner, id);
    if (!isUnderWay) return undefined;
  }
  const result = await postOnce({ ...deps, client }, { ...place, owner }, id, message);
  if ('posted' in result && !result.isNew && !isUntouched)
    await client.chat.update({ ...result.posted, ...message });
  return result;
}

/** True if a process has begun to post the message, or has recorded it. */
async function mayBePosting({ places, pod }: SlackDeliveryDeps, owner: Owner, id: string): Promise<boolean> {
  const probe = `${pod}/probe/${crypto.randomUUID()}`;
  const { first } = await places.intend(owner, id, probe);
  if (first.by !== probe) return true;
  const isPosted = (await places.posted(owner, id)) !== undefined;
  await places.endIntent(owner, id, first);
  return isPosted;
}

import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { type NotifyRules, nextNotice } from '@parley/core/domain/notify';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import type { WebClient } from '@slack/web-api';
import { escalationMessage, reminderMessage } from '../mapping/notice.ts';
import type { Posted, SlackThread } from '../store/threads.ts';
import { isSameUser } from '../store/workspace.ts';
import type { SlackDeliveryDeps } from './deps.ts';
import { faultOf } from './faults.ts';
import { type PostResult, postOnce } from './post.ts';
import { noticePlace } from './reach.ts';

/** Where a record is shown, and the reminders and escalations while it is not answered. */
export interface NoticePlan {
  readonly place: SlackThread;
  readonly reminders?: NotifyRules;
}

/**
 * Determines where a record is shown that was asked elsewhere: in the direct messages of the person's Slack user, once its
 * notice is due. Otherwise returns the result of the delivery: later, or nothing to deliver.
 */
export async function planNotice(
  deps: SlackDeliveryDeps,
  row: RowOf<FamilyTypes>,
  isOpen: boolean,
  now: number,
): Promise<NoticePlan | { readonly result: OutboxResult }> {
  const { notify } = row.definition;
  if (notify === undefined) return { result: 'done' };
  const found = await noticePlace(deps, row.definition, row.id);
  if (found === undefined) return { result: 'done' };
  const plan = { place: found.place, reminders: notify };
  if (found.isPosted || !isOpen) return plan;
  const dueInMs = await deps.engine.notices.dueInMs(row, now);
  if (dueInMs === undefined) return { result: 'done' };
  if (dueInMs > 0) return { result: { deferInMs: dueInMs } };
  const noticed = await deps.places.putNoticed(row.definition, row.id, found.place);
  return isSameUser(noticed, found.place) ? plan : { result: { deferInMs: 0 } };
}

/** Sends the reminder or escalation that is due, and reports when the next one is due. */
export async function sendReminders(
  deps: SlackDeliveryDeps & { readonly client: WebClient },
  row: RowOf<FamilyTypes>,
  { place, reminders }: NoticePlan,
  { posted, isNew, now }: { readonly posted: Posted; readonly isNew: boolean; readonly now: number },
): Promise<OutboxResult> {
  if (reminders === undefined) return 'done';
  let sent = 0;
  while ((await deps.places.posted(row.definition, `${row.id}/reminder/${sent}`)) !== undefined) sent += 1;
  const isEscalated = (await deps.places.posted(row.definition, `${row.id}/escalation`)) !== undefined;
  const next = nextNotice(reminders, { openedAt: row.createdAt, now, reminders: sent, isEscalated });
  if (next === undefined) return 'done';
  if (next.at > now) return { deferInMs: next.at - now };
  // A notice that comes this late also counts as the reminder.
  if (isNew && next.type === 'reminder') {
    await deps.places.putPosted(row.definition, `${row.id}/reminder/${sent}`, posted);
    return { deferInMs: 0 };
  }
  const result =
    next.type === 'reminder'
      ? await postOnce(
          deps,
          { owner: row.definition, channel: posted.channel, thread: posted.ts },
          `${row.id}/reminder/${sent}`,
          reminderMessage(row, { user: place.userId }),
        )
      : await escalate(deps, row, place, next.to);
  return 'deferInMs' in result ? result : { deferInMs: 0 };
}

/** Sends the escalation once. If Slack refuses it, it counts as sent, so that reminders continue. */
async function escalate(
  deps: SlackDeliveryDeps & { readonly client: WebClient },
  row: RowOf<FamilyTypes>,
  place: SlackThread,
  to: string,
): Promise<PostResult> {
  const delivery = `${row.id}/escalation`;
  const message = escalationMessage(row, { user: place.userId });
  try {
    return await postOnce(deps, { owner: row.definition, channel: to }, delivery, message);
  } catch (error) {
    const fault = faultOf(error);
    if (fault.type !== 'refused') throw error;
    deps.onRefused(delivery, fault.code);
    const none = await deps.places.putPosted(row.definition, delivery, { channel: to, ts: '' });
    return { posted: none, isNew: false };
  }
}

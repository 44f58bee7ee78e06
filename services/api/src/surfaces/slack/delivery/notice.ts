import type { Row } from '@parley/shared/domain/elicitations/row';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { endOfQuietHours, type NotifyRules, nextNotice } from '@parley/shared/domain/notify';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import type { WebClient } from '@slack/web-api';
import { escalationMessage, reminderMessage } from '../mapping/notice.ts';
import type { Posted, SlackThread } from '../store/threads.ts';
import type { SlackDeliveryDeps } from './deps.ts';
import { faultOf } from './faults.ts';
import { type PostResult, postOnce } from './post.ts';

/** Where a question is shown, and what follows while it stays unanswered. */
export interface NoticePlan {
  readonly place: SlackThread;
  readonly reminders?: NotifyRules;
}

/**
 * Where a question goes that was asked elsewhere: to the direct messages of the person's Slack user, once it has been open
 * for so long and outside of quiet hours. Otherwise, what to report: later, or nothing to deliver.
 */
export async function planNotice(
  deps: SlackDeliveryDeps,
  row: Row,
  now: number,
): Promise<NoticePlan | { readonly result: OutboxResult }> {
  const { notify } = row.definition;
  if (notify === undefined) return { result: 'done' };
  const known = await deps.places.posted(row.definition, row.id);
  const [user] = await deps.links.of(row.definition);
  if (user === undefined) return { result: 'done' };
  const place = { ...user, isPrivate: true, channel: known?.channel ?? user.userId };
  if (known !== undefined || isTerminal(row.status)) return { place, reminders: notify };
  const dueAt = endOfQuietHours(notify, row.createdAt + notify.afterSeconds * 1_000);
  const at = Math.max(dueAt, endOfQuietHours(notify, now));
  return at > now ? { result: { deferInMs: at - now } } : { place, reminders: notify };
}

/** Sends the reminder or the escalation that is due, and reports when the next one is. */
export async function sendReminders(
  deps: SlackDeliveryDeps & { readonly client: WebClient },
  row: Row,
  { place, reminders }: NoticePlan,
  posted: Posted,
  now: number,
): Promise<OutboxResult> {
  if (reminders === undefined) return 'done';
  let sent = 0;
  while ((await deps.places.posted(row.definition, `${row.id}/reminder/${sent}`)) !== undefined) sent += 1;
  const isEscalated = (await deps.places.posted(row.definition, `${row.id}/escalation`)) !== undefined;
  const next = nextNotice(reminders, { openedAt: row.createdAt, now, reminders: sent, isEscalated });
  if (next === undefined) return 'done';
  if (next.at > now) return { deferInMs: next.at - now };
  const result =
    next.type === 'reminder'
      ? await postOnce(
          deps,
          row.definition,
          { channel: posted.channel, thread: posted.ts },
          `${row.id}/reminder/${sent}`,
          reminderMessage({ user: place.userId }),
        )
      : await escalate(deps, row, place, next.to);
  return 'deferInMs' in result ? result : { deferInMs: 0 };
}

/** Sends the escalation once. One that Slack refuses counts as sent, so that reminders continue. */
async function escalate(
  deps: SlackDeliveryDeps & { readonly client: WebClient },
  row: Row,
  place: SlackThread,
  to: string,
): Promise<PostResult> {
  const delivery = `${row.id}/escalation`;
  const message = escalationMessage(row, { user: place.userId });
  try {
    return await postOnce(deps, row.definition, { channel: to }, delivery, message);
  } catch (error) {
    const fault = faultOf(error);
    if (fault.type !== 'refused') throw error;
    deps.onRefused(delivery, fault.code);
    const none = await deps.places.putPosted(row.definition, delivery, { channel: to, ts: '' });
    return { posted: none, isNew: false };
  }
}

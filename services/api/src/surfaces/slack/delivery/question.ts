import type { Row } from '@parley/shared/domain/elicitations/row';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { bucketOf, formatStreamPath, type StreamRef } from '@parley/shared/domain/ids';
import type { OutboxResult, OutboxTask } from '@parley/shared/ports/delivery/outbox';
import type { WebClient } from '@slack/web-api';
import { addressMessage, addressOf, questionMessage, type ShownTo } from '../mapping/question.ts';
import type { SlackThread } from '../store/threads.ts';
import { SLACK, type SlackDeliveryDeps } from './deps.ts';
import { DeliveryOverError, faultOf, resultOf } from './faults.ts';
import { type NoticePlan, planNotice, sendReminders } from './notice.ts';
import { showRecord } from './record.ts';

/** The task that brings the messages of a turn up to date. */
export function turnTask(stream: StreamRef): OutboxTask {
  return { kind: SLACK, subject: formatStreamPath(stream), bucket: bucketOf(stream) };
}

/**
 * Brings the message of a question up to date: posts it while the question is open, and edits it after each change. Reads
 * the row at each attempt, so that a task may come late, or twice.
 */
export async function deliverQuestion(
  deps: SlackDeliveryDeps,
  elicitationId: string,
  attempt: number,
): Promise<OutboxResult> {
  const { row, now } = await deps.elicitations.read(elicitationId);
  if (row === undefined) return 'done';
  const ofTurn = await deps.places.turn(row.definition);
  // The reply continues below the question once the turn does.
  if (ofTurn !== undefined && isTerminal(row.status)) await deps.outbox.add(turnTask(row.definition));
  const plan = ofTurn === undefined ? await planNotice(deps, row, now) : { place: ofTurn };
  if (!('place' in plan)) return plan.result;
  const installation = await deps.installations.find(plan.place);
  if (installation === undefined) return 'done';
  try {
    return await show(deps, await deps.clientOf(installation.botToken), row, plan, now);
  } catch (error) {
    return failed(deps, error, elicitationId, attempt);
  }
}

/** What a delivery reports after a call of Slack has failed. Throws every other error. */
export function failed(
  deps: Pick<SlackDeliveryDeps, 'onRefused'>,
  error: unknown,
  delivery: string,
  attempt: number,
): OutboxResult {
  if (!isSlackError(error) && !(error instanceof DeliveryOverError)) throw error;
  const fault = faultOf(error);
  if (fault.type === 'refused') deps.onRefused(delivery, fault.code);
  return resultOf(fault, attempt);
}

function isSlackError(error: unknown): boolean {
  return String((error as { readonly code?: unknown }).code).startsWith('slack_webapi_');
}

async function show(
  deps: SlackDeliveryDeps,
  client: WebClient,
  row: Row,
  plan: NoticePlan,
  now: number,
): Promise<OutboxResult> {
  const place = await inDirectMessage(client, plan.place);
  const at = questionPlace(deps, row, place);
  const isOpen = !isTerminal(row.status);
  const shown = {
    id: row.id,
    owner: row.definition,
    isUntouched: row.status === 'pending',
    isOpen,
    message: questionMessage(row, at),
  };
  const result = await showRecord(deps, client, shown, place);
  if (result === undefined) return 'done';
  if ('deferInMs' in result) return result;
  if (isOpen && !at.isPrivate && addressOf(row.definition) !== undefined)
    await showAddress(deps, client, row, place);
  return isOpen && plan.reminders !== undefined
    ? sendReminders({ ...deps, client }, row, plan, result.posted, now)
    : 'done';
}

/** A notice goes to a conversation that is opened with the person. */
async function inDirectMessage(client: WebClient, place: SlackThread): Promise<SlackThread> {
  if (place.channel !== place.userId) return place;
  const { channel } = await client.conversations.open({ users: place.userId });
  return { ...place, channel: channel?.id ?? place.channel };
}

/** Shows the address to the person asked alone. A message of this kind cannot be edited, and may be lost. */
async function showAddress(
  { places, pod, now }: SlackDeliveryDeps,
  client: WebClient,
  row: Row,
  { channel, thread, userId }: SlackThread,
): Promise<void> {
  const own = { by: `${pod}/${crypto.randomUUID()}`, at: now() };
  const first = await places.intend(row.definition, `${row.id}/address`, own);
  if (first.by !== own.by) return;
  const place = { channel, user: userId, ...(thread !== undefined && { thread_ts: thread }) };
  await client.chat.postEphemeral({ ...place, ...addressMessage(row) }).catch(async (error: unknown) => {
    if (faultOf(error).type !== 'over') return;
    await places.abandon(row.definition, `${row.id}/address`, own);
    throw error;
  });
}

export function questionPlace(
  { answerPageOf }: Pick<SlackDeliveryDeps, 'answerPageOf'>,
  { id }: Row,
  { userId, isPrivate }: SlackThread,
): ShownTo {
  const answerPage = answerPageOf(id);
  return { user: userId, isPrivate, ...(answerPage !== undefined && { answerPage }) };
}

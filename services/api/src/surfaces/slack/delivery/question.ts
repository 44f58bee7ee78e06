import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import type { WebClient } from '@slack/web-api';
import { addressMessage, addressOf, questionMessage, type ShownTo } from '../mapping/question.ts';
import type { SlackThread } from '../store/threads.ts';
import type { SlackDeliveryDeps } from './deps.ts';
import { faultOf } from './faults.ts';
import { deliverRecord } from './record.ts';

/** Updates the message of a question. It reads the row at each attempt, so a task may run late or twice. */
export async function deliverQuestion(
  deps: SlackDeliveryDeps,
  elicitationId: string,
  attempt: number,
): Promise<OutboxResult> {
  const { row, now } = await deps.elicitations.read(elicitationId);
  if (row === undefined) return 'done';
  const isOpen = !isTerminal(row.status);
  const shown = {
    row,
    now,
    isOpen,
    isUntouched: row.status === 'pending',
    messageAt: (place: SlackThread) => questionMessage(row, questionPlace(deps, row, place)),
    async afterwards(client: WebClient, place: SlackThread) {
      if (isOpen && !place.isPrivate && addressOf(row.definition) !== undefined)
        await showAddress(deps, client, row, place);
    },
  };
  return deliverRecord(deps, shown, attempt);
}

/** Shows the address only to the person asked. Such a message cannot be edited, and may be lost. */
async function showAddress(
  { places, pod }: SlackDeliveryDeps,
  client: WebClient,
  row: Row,
  { channel, thread, userId }: SlackThread,
): Promise<void> {
  const own = `${pod}/${crypto.randomUUID()}`;
  const { first } = await places.intend(row.definition, `${row.id}/address`, own);
  if (first.by !== own) return;
  const place = { channel, user: userId, ...(thread !== undefined && { thread_ts: thread }) };
  await client.chat.postEphemeral({ ...place, ...addressMessage(row) }).catch(async (error: unknown) => {
    if (faultOf(error).type !== 'over') return;
    await places.endIntent(row.definition, `${row.id}/address`, first);
    throw error;
  });
}

/** The place where a thread shows a question. */
export function questionPlace(
  { answerPageOf }: Pick<SlackDeliveryDeps, 'answerPageOf'>,
  { id }: Row,
  { userId, isPrivate }: SlackThread,
): ShownTo {
  const answerPage = answerPageOf(id);
  return { user: userId, isPrivate, ...(answerPage !== undefined && { answerPage }) };
}

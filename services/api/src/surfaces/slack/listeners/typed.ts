/** Takes a typed text as the answer to an open question. Reading its value is in `mapping/typed.ts`. */

import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { isApprovalId, type Owner } from '@parley/core/domain/ids';
import { storedRecordOf } from '@parley/shared/ports/elicitations/elicitations';
import { questionPlace } from '../delivery/question.ts';
import { approvalMessage } from '../mapping/approval.ts';
import { textMessage } from '../mapping/blocks.ts';
import { questionMessage, type SlackMessage } from '../mapping/question.ts';
import {
  faultText,
  type OpenRecord,
  refusedTextMessage,
  stillOpenMessage,
  type TypedWords,
  typedAnswer,
  typedControlOf,
} from '../mapping/typed.ts';
import type { SlackThread } from '../store/threads.ts';
import { APPROVALS } from './decisions.ts';
import type { ListenerDeps } from './deps.ts';
import { answer, QUESTIONS } from './questions.ts';

/** A message that a linked person has written in a thread. */
export interface TypedText {
  /** Undefined if the message contains more than text. */
  readonly words: TypedWords | undefined;
  readonly owner: Owner;
  readonly place: SlackThread & { readonly thread: string };
  readonly conversationId: string;
  /** Timestamp of the message. */
  readonly ts: string;
}

/** How many open records of a thread are named. */
const NAMED_MAX = 5;

/**
 * Takes a text as the answer to the only question that the person has seen open in its thread, if text can answer it. Undefined
 * if nothing is open there; otherwise the reply to the person, if any. A text never decides on a call. A repeated message finds
 * the question that it answered.
 */
export async function takeTyped(
  deps: ListenerDeps,
  typed: TypedText,
): Promise<{ readonly reply?: SlackMessage } | undefined> {
  const { owner, place, ts, words } = typed;
  const message = { channel: place.channel, ts };
  const earlier = await deps.places.answered(owner, message);
  const rows = earlier === undefined ? await openIn(deps, typed) : await recordsOf(deps, owner, earlier);
  const [row] = rows;
  if (earlier !== undefined && (row === undefined || !isOpen(row))) return {};
  if (row === undefined) return undefined;
  const only = rows.length === 1 ? storedRecordOf(row) : undefined;
  const control = only?.family === 'elicitation' ? typedControlOf(only.row.definition) : undefined;
  if (control === undefined || words === undefined)
    return { reply: stillOpenMessage(rows.map((one) => openRecord(deps, one, place))) };
  // Another pod may have taken the same message as the answer to another question.
  if ((await deps.places.putAnswered(owner, message, row.id)) !== row.id) return takeTyped(deps, typed);
  const refused = (why: string) => ({ reply: refusedTextMessage(openRecord(deps, row, place), why) });
  const read = typedAnswer(control, words);
  if ('fault' in read) return refused(read.fault);
  const responseId = `slack-${place.channel}-${ts}`;
  const fault = await answer(deps, owner, row.id, { action: 'accept', content: read.content, responseId });
  if (fault === undefined) return {};
  if (fault.code === 'invalid_answer') return refused(faultText(fault.issues ?? []));
  const over = await QUESTIONS.refusalText(deps, { owner, id: row.id, user: place.userId }, fault.message);
  return { reply: textMessage(over) };
}

/**
 * The records that were open in a thread before the person's message: those of its conversation, or the one about which its
 * first message notifies.
 */
async function openIn(
  deps: ListenerDeps,
  { owner, place, conversationId, ts }: TypedText,
): Promise<readonly RowOf<FamilyTypes>[]> {
  const { records } = await deps.engine.openRecords({ owner, conversationId, limit: NAMED_MAX });
  const posted = await Promise.all(records.map(({ row }) => deps.places.posted(owner, row.id)));
  // Both times are Slack's.
  const seen = records.filter((_, at) => Number(posted[at]?.ts ?? Infinity) < Number(ts));
  if (records.length > 0) return seen.map(({ row }) => row);
  const id = await deps.places.noticeIn(owner, { channel: place.channel, ts: place.thread });
  const noticed = id === undefined ? [] : await recordsOf(deps, owner, id);
  return noticed.filter((row) => isOpen(row));
}

/** The record with this id, if it belongs to this person. */
async function recordsOf(deps: ListenerDeps, owner: Owner, id: string): Promise<RowOf<FamilyTypes>[]> {
  const row = await (isApprovalId(id) ? APPROVALS : QUESTIONS).find(deps, owner, id);
  return row === undefined ? [] : [row];
}

function isOpen(row: RowOf<FamilyTypes>): boolean {
  const record = storedRecordOf(row);
  return !(record.family === 'approval' ? isApprovalEnded(record.row.status) : isTerminal(record.row.status));
}

/** A record, with its message in the thread. */
function openRecord(deps: ListenerDeps, row: RowOf<FamilyTypes>, place: SlackThread): OpenRecord {
  const record = storedRecordOf(row);
  const { userId: user, isPrivate } = place;
  const message =
    record.family === 'approval'
      ? approvalMessage(record.row, { user, isPrivate })
      : questionMessage(record.row, questionPlace(deps, record.row, place));
  return { row, message };
}

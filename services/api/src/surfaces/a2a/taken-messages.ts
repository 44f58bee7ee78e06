/**
 * Records which messages answered which questions, for repeats and for the history of tasks. Answering is in `task-answers.ts`.
 */

import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isReferenceId } from '@parley/core/domain/ids';
import { contextOf } from '@parley/shared/domain/a2a/context';
import type { AnswerData } from '@parley/shared/domain/a2a/extension';
import { AnswerMessage, shownOfSent } from '@parley/shared/domain/a2a/kept-message';
import type { WireMessage, WirePart } from '@parley/shared/domain/a2a/wire';
import { type Caller, unlessMissing } from '@parley/shared/domain/caller';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Run } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import { z } from 'zod';
import type { A2aDeps } from './deps.ts';

/** The surfaces recorded with an answer through A2A: by the person, or by a service that spoke for the person. */
export const SURFACES = { user: 'a2a', service: 'a2a-caller' } as const;

/** The question that a plain text answers, and the field of its form. */
export const PlainTarget = z.object({ elicitationId: z.string(), field: z.string() });
export type PlainTarget = z.infer<typeof PlainTarget>;

/** The record of a message that was accepted as an answer. */
export const TakenMessage = z.object({
  digest: z.string(),
  /** Present if the text of the message is the answer. */
  plain: PlainTarget.optional(),
  /** The part of the message that the history shows. Records of earlier builds lack it. */
  sent: AnswerMessage.optional().catch(undefined),
});
export type TakenMessage = z.infer<typeof TakenMessage>;

const nameOfTask = (taskId: string) => `a2a-answer/${taskId}/`;

/** The name of a message's record. */
export function takenMessageName(taskId: string, messageId: string): string {
  return `${nameOfTask(taskId)}${sha256(messageId)}`;
}

/** The response id of a message's answers. */
export function responseIdOf(messageId: string): string {
  return isReferenceId(messageId) ? messageId : sha256(messageId);
}

/**
 * Finds the caller's message that brought a question to its state at that time (ms on the Redis clock). Undefined if no such
 * message did.
 */
export type FindAnswerMessage = (question: Elicitation, at: number) => Promise<WireMessage | undefined>;

/**
 * Finds the messages that answered a task's questions, for its history. A service that speaks for the person does not find the
 * person's own messages. The content of an answer is read from its question's row, and only if it is not secret.
 */
export function createFindAnswerMessage(
  { engine, records }: Pick<A2aDeps, 'engine' | 'records'>,
  run: Run,
  viewer: Caller['kind'],
): FindAnswerMessage {
  const { tenant, userId, streamRequestId: taskId } = run;
  const owner = { tenant, userId };
  const settled = new Map<string, Row>();
  let taken: readonly TakenMessage[] = [];
  let listedAt = Number.NEGATIVE_INFINITY;

  const isVisible = (surface: string | undefined) =>
    surface === SURFACES.service || (surface === SURFACES.user && viewer === 'user');

  async function rowOf(id: string): Promise<Row | undefined> {
    const known = settled.get(id);
    if (known !== undefined) return known;
    const { row } = (await unlessMissing(engine.read({ kind: 'user', ...owner }, id))) ?? {};
    if (row?.settlement !== undefined) settled.set(id, row);
    return row;
  }

  async function find(
    matches: (message: TakenMessage) => boolean,
    at: number,
  ): Promise<TakenMessage | undefined> {
    const known = taken.find(matches);
    // A message is recorded before its answer. So a list that was read after the answer contains the message, or the message is
    // no longer stored.
    if (known !== undefined || at < listedAt) return known;
    listedAt = await records.now(owner);
    const stored = await records.list(owner, nameOfTask(taskId));
    taken = stored.flatMap(({ value }) => {
      const read = TakenMessage.safeParse(JSON.parse(value));
      return read.success && isVisible(read.data.sent?.surface) ? [read.data] : [];
    });
    return taken.find(matches);
  }

  /** A message's answer in the format of the extension. Undefined if another answer was recorded. */
  async function answerPart(
    responseId: string,
    { elicitationId, action }: Pick<AnswerData, 'elicitationId' | 'action'>,
  ): Promise<WirePart[]> {
    const row = await rowOf(elicitationId);
    if (row === undefined) return [];
    const { settlement, definition } = row;
    const isRecorded = settlement?.responseId === responseId;
    const isPage = definition.mode === 'url' || definition.answerUrl !== undefined;
    if (!isRecorded && !(isPage && action === 'accept')) return [];
    const content = isRecorded && definition.sensitive !== true ? settlement.content : undefined;
    const data = { type: 'elicitation-response', elicitationId, action };
    return [{ data: { ...data, ...(content !== undefined && { content }) } }];
  }

  async function partsOf({ plain, sent }: TakenMessage, responseId: string): Promise<WirePart[]> {
    if (plain !== undefined) {
      const row = await rowOf(plain.elicitationId);
      const text = row?.definition.sensitive === true ? undefined : row?.settlement?.content?.[plain.field];
      return [{ text: typeof text === 'string' ? text : '' }];
    }
    const parts = (sent?.parts ?? []).map(async (part) =>
      'text' in part ? [{ text: part.text }] : answerPart(responseId, part),
    );
    return (await Promise.all(parts)).flat();
  }

  return async ({ elicitationId, status, settledBy }, at) => {
    const isOpened = status === 'opened';
    if (!isOpened && !isVisible(settledBy?.surface)) return undefined;
    const responseId = isOpened ? undefined : (await rowOf(elicitationId))?.settlement?.responseId;
    const message = await find(({ sent }) => {
      if (sent === undefined || !isOpened)
        return sent !== undefined && responseIdOf(sent.messageId) === responseId;
      return (
        sent.parts?.some((part) => 'elicitationId' in part && part.elicitationId === elicitationId) === true
      );
    }, at);
    if (message?.sent === undefined) return undefined;
    return {
      ...shownOfSent(message.sent),
      contextId: contextOf(run.conversationId),
      taskId,
      role: 'ROLE_USER',
      parts: await partsOf(message, responseIdOf(message.sent.messageId)),
    };
  };
}

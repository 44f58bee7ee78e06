/** Answers the questions of a task with a message. Recording which message it was is in `taken-messages.ts`. */

import { ParleyError } from '@parley/core/domain/errors';
import { contextOf } from '@parley/shared/domain/a2a/context';
import { plainTextField, questionDataOf } from '@parley/shared/domain/a2a/extension';
import { type Caller, notFound } from '@parley/shared/domain/caller';
import type { Run } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import type { ActingCaller } from '../../turns/principal.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import type { ReadMessage } from './message.ts';
import {
  type PlainTarget,
  responseIdOf,
  SURFACES,
  TakenMessage,
  takenMessageName,
} from './taken-messages.ts';
import { openTask } from './task-stream.ts';

type Answer = ReadMessage['answers'][number];

/** True for the person, and for a service that may answer for the person. */
export function mayAnswer(agent: OfferedAgent, caller: Caller): boolean {
  return caller.kind === 'user' || agent.answers === 'caller';
}

/** Handles messages to a task, which contain answers. See `CallerTasks.answer`. */
export function createTaskAnswers(
  deps: A2aDeps,
  agent: OfferedAgent,
  { caller, owner }: ActingCaller,
): (run: Run, message: ReadMessage) => Promise<void> {
  const { engine, limits, records } = deps;

  async function answerOne(run: Run, answer: Answer, responseId: string): Promise<void> {
    const { elicitationId: id, action, content } = answer;
    const person = { kind: 'user', ...owner } as const;
    const { row } = await engine.read(person, id);
    if (row.definition.streamRequestId !== run.streamRequestId) throw notFound();
    // An earlier attempt with this message has recorded the answer.
    if (row.settlement?.responseId === responseId) return;
    await limits.answer(owner, id);
    const takesContent = action === 'accept' && row.definition.mode === 'form' && !row.definition.answerUrl;
    await engine.answer({
      caller: person,
      id,
      response: {
        action,
        ...(takesContent && content !== undefined && { content }),
        responseId,
      },
      surface: SURFACES[caller.kind],
    });
  }

  /** The only open question, if it is a form with one text field, which plain text can answer. */
  async function plainTargetOf(run: Run, { text }: ReadMessage): Promise<PlainTarget> {
    const { open } = (await openTask(deps, run, async () => undefined)).fold;
    const question = open.length === 1 && open[0] !== undefined ? questionDataOf(open[0]) : undefined;
    const field = question && plainTextField(question);
    if (question !== undefined && field !== undefined && text !== '')
      return { elicitationId: question.elicitationId, field };
    throw open.length === 0
      ? new ParleyError('already_settled', 'The task works, and asks for nothing; begin another task.')
      : new ParleyError('invalid_request', 'Plain text does not answer this task; answer by the extension.');
  }

  /**
   * The answers of a message. They are recorded before the first effect, so that a repeated message answers the same questions
   * and not those that are open by then. Throws `idempotency_mismatch`.
   */
  async function recordedAnswers(run: Run, message: ReadMessage): Promise<ReadMessage['answers']> {
    const { text, answers, messageId, answering } = message;
    const name = takenMessageName(run.streamRequestId, messageId);
    const sent = sha256(JSON.stringify([text, answers]));
    let stored = await records.read(owner, name);
    if (stored === undefined) {
      if (run.status !== 'running')
        throw new ParleyError('already_settled', 'The task has ended; begin another one.');
      const plain = answers.length > 0 ? undefined : await plainTargetOf(run, message);
      const record: TakenMessage = {
        digest: sent,
        ...(plain !== undefined && { plain }),
        sent: { ...answering, surface: SURFACES[caller.kind] },
      };
      stored = await records.putIfAbsent(owner, name, JSON.stringify(record), deps.answerMs);
    }
    const { success, data: taken } = TakenMessage.safeParse(JSON.parse(stored));
    // Earlier builds wrote this record after the answers, so there is nothing left to do.
    if (!success) return [];
    const { digest: recorded } = taken;
    if (recorded !== sent)
      throw new ParleyError('idempotency_mismatch', 'Another message was sent with this messageId.');
    if (taken.plain === undefined) return answers;
    const { elicitationId, field } = taken.plain;
    return [{ type: 'elicitation-response', elicitationId, action: 'accept', content: { [field]: text } }];
  }

  return async (run, message) => {
    if (message.contextId !== undefined && message.contextId !== contextOf(run.conversationId))
      throw new ParleyError('invalid_request', 'The contextId is not that of the task.');
    if (message.images.length > 0) throw new ParleyError('invalid_request', 'An answer holds no images.');
    if (!mayAnswer(agent, caller))
      throw new ParleyError('forbidden', 'Only the person may answer the questions of this agent.');
    const responseId = responseIdOf(message.messageId);
    for (const answer of await recordedAnswers(run, message)) await answerOne(run, answer, responseId);
  };
}

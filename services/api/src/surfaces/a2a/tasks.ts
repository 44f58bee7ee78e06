import { createHash, randomUUID } from 'node:crypto';
import { checkContextId, contextOf, parallelConversation } from '@parley/shared/domain/a2a/context';
import { plainTextField, questionDataOf } from '@parley/shared/domain/a2a/extension';
import { isTerminalState } from '@parley/shared/domain/a2a/wire';
import { isParleyError, ParleyError } from '@parley/shared/domain/errors';
import { isReferenceId } from '@parley/shared/domain/ids';
import type { Message, Run, Support } from '@parley/shared/domain/runs/run';
import { notFound } from '@parley/shared/elicitations/caller';
import { type ChatMessage, textOf } from '../../turns/messages.ts';
import type { A2aCaller } from './caller.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import type { ReadMessage } from './message.ts';
import { type OpenedTask, openTask } from './task-stream.ts';

/** Surfaces that an answer through A2A is recorded with: the person's own, and that of a service that spoke for them. */
export const SURFACES = { user: 'a2a', service: 'a2a-caller' } as const;

/** The tasks of one caller with one agent. */
export interface CallerTasks {
  /** Begins a task; the same message finds the task that it began. Throws what a turn's begin throws. */
  begin(message: ReadMessage): Promise<{ readonly run: Run; readonly isRepeat: boolean }>;
  /** The task of an id. Throws `not_found` for every task that is not the caller's, or of another agent. */
  find(taskId: string): Promise<Run>;
  /** Takes a message to a task: the answers that it holds. Throws `not_found`, `invalid_request` and `already_settled`. */
  answer(run: Run, message: ReadMessage): Promise<void>;
  /** Requests the task to stop. False when it has ended. */
  stop(run: Run): Promise<boolean>;
  /** The newest tasks, as far as they are listed. */
  list(): Promise<readonly OpenedTask[]>;
}

const LISTED_MAX = 500;
const READ_AT_ONCE = 20;

export function createCallerTasks(
  deps: A2aDeps,
  agent: OfferedAgent,
  { caller, owner }: A2aCaller,
): CallerTasks {
  const { engine, turns, limits, records } = deps;
  const mayAnswer = caller.kind === 'user' || agent.answers === 'caller';
  // What the person alone may answer is answered on the hosted page.
  const support: Support = { form: mayAnswer, url: true, sensitiveForms: false };

  function beginIn(conversationId: string, message: ReadMessage, before?: readonly Message[]) {
    const { messageId, contextId, text } = message;
    return turns.begin({
      conversation: { ...owner, conversationId },
      agent: agent.id,
      input: [{ role: 'user', content: text }],
      before: before ?? [],
      // Beside another task of its context.
      ...(before !== undefined && { unlisted: true }),
      support,
      delivery: 'detach',
      // Callers cannot send an idempotency key with a space, so no key of theirs collides with this one.
      repeatable: {
        key: `a2a ${messageId}`,
        digest: sha256(JSON.stringify([agent.id, contextId ?? null, text])),
      },
    });
  }

  /** Another task of the context runs: this one begins beside it, with what was said before. */
  async function beginBeside(contextId: string, message: ReadMessage) {
    const { messages } = await turns.history({ ...owner, conversationId: contextId });
    const before = messages.flatMap(({ role, parts }): Message[] => {
      const content = textOf({ parts: parts as ChatMessage['parts'] });
      return content === '' ? [] : [{ role, content }];
    });
    return beginIn(parallelConversation(contextId, sha256(message.messageId)), message, before);
  }

  async function find(taskId: string): Promise<Run> {
    const run = isReferenceId(taskId)
      ? await turns.readRun({ ...owner, streamRequestId: taskId })
      : undefined;
    if (run === undefined || run.agent !== agent.id || run.parent !== undefined) throw notFound();
    return run;
  }

  async function answerOne(
    run: Run,
    answer: ReadMessage['answers'][number],
    messageId: string,
  ): Promise<void> {
    const { elicitationId: id, action, content } = answer;
    const person = { kind: 'user', ...owner } as const;
    const { row } = await engine.read(person, id);
    if (row.definition.streamRequestId !== run.streamRequestId) throw notFound();
    await limits.answer(owner, id);
    const takesContent = action === 'accept' && row.definition.mode === 'form' && !row.definition.answerUrl;
    await engine.answer({
      caller: person,
      id,
      response: {
        action,
        ...(takesContent && content !== undefined && { content }),
        ...(isReferenceId(messageId) && { responseId: messageId }),
      },
      surface: SURFACES[caller.kind],
    });
  }

  /** Plain text as the answer to the only open question, where that is a form of one text. */
  async function answersOf(run: Run, { text, answers }: ReadMessage): Promise<ReadMessage['answers']> {
    if (answers.length > 0) return answers;
    const { open } = (await openTask(deps, run)).fold;
    const question = open.length === 1 && open[0] !== undefined ? questionDataOf(open[0]) : undefined;
    const field = question && plainTextField(question);
    if (question !== undefined && field !== undefined && text !== '') {
      const { elicitationId } = question;
      return [{ type: 'elicitation-response', elicitationId, action: 'accept', content: { [field]: text } }];
    }
    throw open.length === 0
      ? new ParleyError('already_settled', 'The task works, and asks for nothing; begin another task.')
      : new ParleyError('invalid_request', 'Plain text does not answer this task; answer by the extension.');
  }

  const answerName = ({ messageId, taskId }: ReadMessage) => `a2a-answer/${taskId}/${sha256(messageId)}`;

  return {
    find,
    async begin(message) {
      if (message.text === '' || message.answers.length > 0)
        throw new ParleyError('invalid_request', 'A message that begins a task holds text alone.');
      turns.admitToAgent(caller, agent.id);
      const contextId = message.contextId && checkContextId(message.contextId);
      const conversationId = contextId ?? `conv_${randomUUID()}`;
      const begun = await beginIn(conversationId, message).catch((error: unknown) => {
        if (!isParleyError(error, 'turn_running')) throw error;
        return beginBeside(conversationId, message);
      });
      const run = await turns.readRun(begun);
      if (run === undefined) throw notFound();
      return { run, isRepeat: begun.isRepeat };
    },
    async answer(run, message) {
      if (message.contextId !== undefined && message.contextId !== contextOf(run.conversationId))
        throw new ParleyError('invalid_request', 'The contextId is not that of the task.');
      if ((await records.read(owner, answerName(message))) !== undefined) return;
      if (run.status !== 'running')
        throw new ParleyError('already_settled', 'The task has ended; begin another one.');
      if (!mayAnswer)
        throw new ParleyError('forbidden', 'Only the person may answer the questions of this agent.');
      for (const answer of await answersOf(run, message)) await answerOne(run, answer, message.messageId);
      await records.putIfAbsent(owner, answerName(message), '1', deps.answerMs);
    },
    async stop(run) {
      if (run.status !== 'running') return false;
      return turns.stop(run);
    },
    async list() {
      const ids = await turns.listRuns(owner, LISTED_MAX);
      const tasks: OpenedTask[] = [];
      for (let from = 0; from < ids.length; from += READ_AT_ONCE) {
        const page = ids.slice(from, from + READ_AT_ONCE).map(async (streamRequestId) => {
          const run = await turns.readRun({ ...owner, streamRequestId });
          if (run === undefined || run.agent !== agent.id || run.parent !== undefined) return [];
          return [await openTask(deps, run)];
        });
        tasks.push(...(await Promise.all(page)).flat());
      }
      return tasks;
    },
  };
}

/** True once a task has ended. */
export function hasEnded({ fold }: OpenedTask): boolean {
  return fold.state !== undefined && isTerminalState(fold.state);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

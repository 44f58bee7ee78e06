/** The tasks of one caller: begin, find, answer, stop. The protocol's operations are in `handler.ts`. */

import { randomUUID } from 'node:crypto';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { isReferenceId } from '@parley/core/domain/ids';
import {
  checkContextId,
  conversationOfKey,
  isOfKey,
  parallelConversation,
} from '@parley/shared/domain/a2a/context';
import { TOO_MANY_HOPS } from '@parley/shared/domain/a2a/hops';
import { isTerminalState } from '@parley/shared/domain/a2a/wire';
import { notFound } from '@parley/shared/domain/caller';
import type { Message, Run, Support } from '@parley/shared/domain/runs/run';
import { sha256 } from '@parley/shared/records/digest';
import { type ChatMessage, textOf } from '../../turns/messages.ts';
import type { ActingCaller } from '../../turns/principal.ts';
import type { A2aDeps, OfferedAgent } from './deps.ts';
import type { ReadMessage } from './message.ts';
import { createFindAnswerMessage } from './taken-messages.ts';
import { createTaskAnswers, mayAnswer } from './task-answers.ts';
import { type OpenedTask, openTask } from './task-stream.ts';

/** The tasks of one caller with one agent. */
export interface CallerTasks {
  /** Begins a task. A repeated message finds the task that it began. Throws what a turn's `begin` throws. */
  begin(message: ReadMessage): Promise<{ readonly run: Run; readonly isRepeat: boolean }>;
  /** Opens a task from its feed. Throws `unavailable`. */
  open(run: Run): Promise<OpenedTask>;
  /** A task by its id. Throws `not_found` for tasks of other callers and other agents. */
  find(taskId: string): Promise<Run>;
  /** Handles a message to a task, which contains answers. Throws `not_found`, `invalid_request` and `already_settled`. */
  answer(run: Run, message: ReadMessage): Promise<void>;
  /** Requests a stop of the task. Returns false if it has ended. */
  stop(run: Run): Promise<boolean>;
  /** The ids of the newest turns, which include the tasks. */
  listIds(): Promise<readonly string[]>;
  /** A task by its id; undefined if `find` would throw. */
  read(taskId: string): Promise<Run | undefined>;
}

const LISTED_MAX = 500;

export function createCallerTasks(
  deps: A2aDeps,
  agent: OfferedAgent,
  { caller, owner }: ActingCaller,
): CallerTasks {
  const { turns } = deps;
  /** Identifies the service key that speaks for the person. The key sees only tasks that it began itself. */
  const key = caller.kind === 'service' ? sha256(caller.keyId ?? '') : undefined;
  // Questions that only the person may answer are answered on the hosted page.
  const support: Support = { form: mayAnswer(agent, caller), url: true, sensitiveForms: false };

  function beginIn(conversationId: string, message: ReadMessage, before?: readonly Message[]) {
    const { messageId, contextId, text, images, hops } = message;
    const content =
      images.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...images];
    return turns.begin({
      conversation: { ...owner, conversationId },
      agent: agent.id,
      input: [{ role: 'user', content }],
      before: before ?? [],
      // The task runs beside another task of its context.
      ...(before !== undefined && { unlisted: true }),
      support: { ...support, ...(hops > 0 && { hops }) },
      delivery: 'detach',
      sent: message.first,
      // Idempotency keys of callers cannot contain a space, so they never collide with this one.
      repeatable: {
        key: key === undefined ? `a2a ${messageId}` : `a2a ${key} ${messageId}`,
        digest: sha256(JSON.stringify([agent.id, contextId ?? null, content])),
      },
    });
  }

  /** Begins a task beside the conversation's running task, with the earlier messages as its history. */
  async function beginBeside(conversationId: string, message: ReadMessage) {
    const { messages } = await turns.history({ ...owner, conversationId });
    const before = messages.flatMap(({ role, parts }): Message[] => {
      const content = textOf({ parts: parts as ChatMessage['parts'] });
      return content === '' ? [] : [{ role, content }];
    });
    return beginIn(parallelConversation(conversationId, sha256(message.messageId)), message, before);
  }

  async function read(taskId: string): Promise<Run | undefined> {
    const run = isReferenceId(taskId)
      ? await turns.readRun({ ...owner, streamRequestId: taskId })
      : undefined;
    if (run === undefined || run.agent !== agent.id || run.parent !== undefined) return undefined;
    return key === undefined || isOfKey(key, run.conversationId) ? run : undefined;
  }

  async function find(taskId: string): Promise<Run> {
    const run = await read(taskId);
    if (run === undefined) throw notFound();
    return run;
  }

  return {
    find,
    read,
    open: (run) => openTask(deps, run, createFindAnswerMessage(deps, run, caller.kind)),
    listIds: () => turns.listRuns(owner, LISTED_MAX),
    async begin(message) {
      if ((message.text === '' && message.images.length === 0) || message.answers.length > 0)
        throw new ParleyError('invalid_request', 'A message that begins a task holds text or images alone.');
      if (message.hops > deps.hopsMax) throw new ParleyError('already_settled', TOO_MANY_HOPS);
      turns.admitToAgent(caller, agent.id);
      const contextId = message.contextId && checkContextId(message.contextId);
      const named = contextId ?? `conv_${randomUUID()}`;
      const conversationId = key === undefined ? named : conversationOfKey(key, named);
      const begun = await beginIn(conversationId, message).catch((error: unknown) => {
        if (!isParleyError(error, 'turn_running')) throw error;
        return beginBeside(conversationId, message);
      });
      const run = await turns.readRun(begun);
      if (run === undefined) throw notFound();
      return { run, isRepeat: begun.isRepeat };
    },
    answer: createTaskAnswers(deps, agent, { caller, owner }),
    async stop(run) {
      if (run.status !== 'running') return false;
      return turns.stop(run);
    },
  };
}

/** True once a task has ended. */
export function hasEnded({ fold }: OpenedTask): boolean {
  return fold.state !== undefined && isTerminalState(fold.state);
}

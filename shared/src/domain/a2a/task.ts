/**
 * Derives A2A task states from the feed of a turn, so that all readers and push targets see the same task. Reading the feed and
 * the HTTP formats are not here.
 */

import type { Approval } from '@parley/core/domain/approvals/approval';
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { callText } from '@parley/core/domain/approvals/tool-title';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { UnknownEvent } from '@parley/core/domain/events';
import { asClientShows } from '../elicitations/client-view.ts';
import { type TurnEvent, turnEventOf } from '../runs/turn-events.ts';
import { ELICITATION_EXTENSION, questionDataOf, questionText } from './extension.ts';
import { FirstMessage, partsOfFirst, shownOfSent } from './kept-message.ts';
import { createReply } from './reply.ts';
import { isTerminalState, type TaskState, type WireMessage, type WireTask, type WireUpdate } from './wire.ts';

/** The ids of a task, and the first message of its caller. */
export interface TaskHead {
  /** The stream request of the turn. */
  readonly taskId: string;
  readonly contextId: string;
  readonly text: string;
}

/** One entry of a turn's feed, joined with the question that it concerns. `at` is in ms on the Redis clock. */
export type TaskItem =
  | {
      readonly type: 'elicitation';
      readonly at: number;
      readonly elicitation: Elicitation;
      /** The caller's message that answered the question, if one did. */
      readonly answeredBy?: WireMessage;
    }
  | {
      readonly type: 'approval';
      readonly at: number;
      readonly approval: FoldedApproval;
    }
  | { readonly type: 'other'; readonly at: number; readonly event: UnknownEvent };

type FoldedApproval = Pick<Approval, 'approvalId' | 'status' | 'agent' | 'tool' | 'risk'>;
type QuestionItem = Extract<TaskItem, { type: 'elicitation' }>;

/** Folds the events of a turn into an A2A task. */
export interface TaskFold {
  /** Takes the next entry of the feed. Returns the updates for subscribers of the task, in order. */
  take(item: TaskItem): readonly WireUpdate[];
  /** Takes live text that precedes its entry in the feed, or replaces it. */
  takeText(block: string, text: string): readonly WireUpdate[];
  /** The current task. Undefined before its first event. */
  task(): WireTask | undefined;
  readonly state: TaskState | undefined;
  /** The open questions in the form that their client displays. */
  readonly open: readonly Elicitation[];
}

interface TaskFoldOptions {
  /** `chunks` sends text as it is written. `whole` sends all text at once before each status in which the task stops. */
  readonly text: 'chunks' | 'whole';
}

/**
 * Projects a turn onto an A2A task, so that every reader of the feed gets the same states in the same order. A question moves
 * the task to a waiting state whose status message holds all open questions; an answer moves it back to working.
 */
export function createTaskFold(head: TaskHead, options: TaskFoldOptions): TaskFold {
  const { taskId, contextId } = head;
  const ref = { taskId, contextId };
  const open = new Map<string, Elicitation>();
  /** Descriptions of the calls that wait for an approval. */
  const approvals = new Map<string, string>();
  const reply = createReply(ref, options.text);
  const history: WireMessage[] = [];
  let status: WireTask['status'] | undefined;
  /** Answering messages of the caller that the next status refers to. */
  const answers: WireMessage[] = [];
  /** All answering messages of the caller, by object identity: clients choose message ids, so ids in the history may repeat. */
  const answered = new Set<WireMessage>();
  let messages = 0;

  function messageOf(
    role: WireMessage['role'],
    parts: WireMessage['parts'],
    hasExtension: boolean,
  ): WireMessage {
    messages += 1;
    return {
      messageId: `${taskId}-${messages}`,
      ...ref,
      role,
      parts,
      ...(hasExtension && { extensions: [ELICITATION_EXTENSION] }),
    };
  }

  function statusOf(state: TaskState, at: number, message?: WireMessage): WireTask['status'] {
    if (status?.message !== undefined) history.push(status.message);
    history.push(...answers.splice(0));
    status = { state, ...(message !== undefined && { message }), timestamp: new Date(at).toISOString() };
    return status;
  }

  function update(state: TaskState, at: number, message?: WireMessage): WireUpdate[] {
    return [...reply.before(state), { statusUpdate: { ...ref, status: statusOf(state, at, message) } }];
  }

  function begin(at: number, sent: unknown): WireUpdate[] {
    const { data: first } = FirstMessage.safeParse(sent);
    const parts = first === undefined ? [{ text: head.text }] : partsOfFirst(head.text, first);
    const message = messageOf('ROLE_USER', parts, false);
    history.push({ ...message, ...(first !== undefined && shownOfSent(first)) });
    statusOf('TASK_STATE_SUBMITTED', at);
    const task = currentTask();
    return task === undefined ? [] : [{ task }];
  }

  function currentTask(): WireTask | undefined {
    if (status === undefined) return undefined;
    return { id: taskId, contextId, status, artifacts: reply.artifacts(), history: [...history] };
  }

  /**
   * A message may answer several questions. It stays in the history where it answered the first one, with its content after the
   * last answer.
   */
  function takeAnswer(message: WireMessage): void {
    const isEarlier = (one: WireMessage) => answered.has(one) && one.messageId === message.messageId;
    answered.add(message);
    for (const list of [history, answers]) {
      const at = list.findIndex(isEarlier);
      if (at >= 0) {
        list[at] = message;
        return;
      }
    }
    answers.push(message);
  }

  function takeQuestion({ elicitation: question, answeredBy, at }: QuestionItem): WireUpdate[] {
    const { elicitationId } = question;
    if (answeredBy !== undefined) takeAnswer(answeredBy);
    if (isTerminal(question.status)) open.delete(elicitationId);
    else open.set(elicitationId, question);
    if (status === undefined || isTerminalState(status.state)) return [];
    if (open.size + approvals.size > 0) return wait(at);
    const data = questionDataOf(asClientShows(question));
    const parts = [{ text: OUTCOMES[data.status] ?? 'The question has ended.' }, { data }];
    return update('TASK_STATE_WORKING', at, messageOf('ROLE_AGENT', parts, true));
  }

  function takeApproval(approval: FoldedApproval, at: number) {
    const { approvalId, status: decided } = approval;
    if (isApprovalEnded(decided)) approvals.delete(approvalId);
    else approvals.set(approvalId, `${callText(approval)}. ${APPROVAL}`);
    if (status === undefined || isTerminalState(status.state)) return [];
    return open.size + approvals.size > 0 ? wait(at) : update('TASK_STATE_WORKING', at);
  }

  function wait(at: number): WireUpdate[] {
    return update(waitingState([...open.values()]), at, askMessage());
  }

  function askMessage(): WireMessage {
    const questions = [...open.values()].map((one) => questionDataOf(asClientShows(one)));
    const texts = questions.map(questionText);
    texts.push(...approvals.values());
    const text = texts.join('\n\n');
    return messageOf('ROLE_AGENT', [{ text }, ...questions.map((data) => ({ data }))], true);
  }

  function end(state: TaskState, at: number, text?: string): WireUpdate[] {
    open.clear();
    approvals.clear();
    return update(state, at, text === undefined ? undefined : messageOf('ROLE_AGENT', [{ text }], false));
  }

  function takeTurn(event: TurnEvent, at: number): readonly WireUpdate[] {
    switch (event.type) {
      case 'turn-started':
        return status === undefined ? begin(at, event.sent) : [];
      case 'step-started':
        reply.stepStarted(event.step);
        return status?.state === 'TASK_STATE_SUBMITTED' ? update('TASK_STATE_WORKING', at) : [];
      case 'step-restarted':
        return reply.stepRestarted(event.step);
      case 'text-delta':
        return reply.text(event.block, event.text);
      case 'turn-finished': {
        const [state, text] = ENDS[event.reason] ?? (['TASK_STATE_COMPLETED'] as const);
        return end(state, at, text);
      }
      case 'turn-failed':
        return end('TASK_STATE_FAILED', at, event.message);
      default:
        return [];
    }
  }

  return {
    take(item) {
      if (item.type === 'elicitation') return takeQuestion(item);
      if (item.type === 'approval') return takeApproval(item.approval, item.at);
      const event = turnEventOf(item.event);
      return event === undefined ? [] : takeTurn(event, item.at);
    },
    takeText: (block, text) => reply.text(block, text),
    task: currentTask,
    get state() {
      return status?.state;
    },
    get open() {
      return [...open.values()].map(asClientShows);
    },
  };
}

/**
 * `input-required` when the caller must answer, `auth-required` when the person only has to visit a page. A form that its
 * client shows as a page still counts as a question.
 */
function waitingState(questions: readonly Elicitation[]): TaskState {
  return questions.some(({ mode }) => mode === 'form')
    ? 'TASK_STATE_INPUT_REQUIRED'
    : 'TASK_STATE_AUTH_REQUIRED';
}

// A2A has no approvals, so the person decides in another client.
const APPROVAL = 'It waits until the person has decided.';

const ENDS: Readonly<Record<string, readonly [TaskState, string?]>> = {
  stop: ['TASK_STATE_COMPLETED'],
  length: ['TASK_STATE_COMPLETED'],
  'step-limit': ['TASK_STATE_FAILED', 'The agent reached its limit of steps before it was done.'],
  'content-filter': ['TASK_STATE_REJECTED', 'A content filter held the answer back.'],
  stopped: ['TASK_STATE_CANCELED'],
};

const OUTCOMES: Readonly<Record<string, string>> = {
  accepted: 'The question was answered.',
  declined: 'The question was declined.',
  cancelled: 'The question was dismissed.',
  expired: 'Nobody answered the question before its deadline.',
  withdrawn: 'The question was withdrawn.',
};

/**
 * Puts the questions of a remote task to the person and keeps them across changes of the credential. Recognizing questions in a
 * task is in `read-questions.ts`.
 */

import { restoreContent } from '../mcp/questions/restores.ts';
import { type AskingAgent, askForAgent, visitPage } from '../remote/questions.ts';
import type { AskOutcome } from '../run/question.ts';
import type { ToolCall } from '../run/tool.ts';
import type { TaskCheckpoint } from './checkpoint.ts';
import type { OutgoingMessage } from './link.ts';
import { showNotice } from './outcome.ts';
import { extensionAsk, type RemoteQuestion, textAsk } from './read-questions.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';

/** A question that has ended, with the message that the agent gets. */
export interface SettledQuestion {
  readonly key: string;
  /**
   * Absent if the question was withdrawn. The agent then gets nothing, and the question is asked again while the agent still
   * asks it.
   */
  readonly part?: OutgoingMessage['part'];
  /** True when the person gave an answer that the agent may refuse. */
  readonly isAnswer: boolean;
}

/** The reader of the task, which uses one credential. It attends to the questions. */
interface Attendant {
  /** Runs a wait for the person, during which the task's clock is paused. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Called when a question has ended. */
  readonly onSettled: () => void;
}

/**
 * The questions of one remote task, which become elicitations on the turn's stream. They stay open when the task continues with
 * another credential.
 */
export interface RemoteQuestions {
  /** Replaces the reader of the task. */
  attendBy(attendant: Attendant): void;
  /**
   * Asks the new questions among the agent's open ones, and withdraws those that the agent no longer asks. Returns the keys of
   * all questions ever asked.
   */
  update(open: readonly RemoteQuestion[], state: TaskCheckpoint): string[];
  /** The questions that have ended since the last call. Throws the reason of the call's signal. */
  take(): readonly SettledQuestion[];
  /** Reports that the agent has received the answer to this question. Until then the call counts as busy. */
  delivered(key: string): void;
  /** True while the person is asked. */
  readonly isAsking: boolean;
  /** True if the agent has asked more questions than it may. */
  readonly isExceeded: boolean;
  /** Withdraws the open questions. */
  close(): void;
}

interface RemoteQuestionsOptions {
  readonly agent: Pick<RemoteAgentTarget, 'id' | 'title' | 'mayAsk'>;
  readonly questionsMax: number;
  readonly questionTimeoutSeconds: number;
}

interface AskedQuestion {
  readonly ending: AbortController;
  /** Resolves when the question is settled. */
  readonly over: Promise<void>;
  isSettled: boolean;
}

export function createRemoteQuestions(call: ToolCall, options: RemoteQuestionsOptions): RemoteQuestions {
  const { questionsMax } = options;
  const open = new Map<string, AskedQuestion>();
  const settled: SettledQuestion[] = [];
  /** Ends the work that a settled question still causes, by its key. */
  const works = new Map<string, () => void>();
  let failure: { readonly error: unknown } | undefined;
  let isExceeded = false;
  let attendant: Attendant | undefined;

  function start(question: RemoteQuestion, attempt: number): void {
    const ending = new AbortController();
    const over = askRemote(call, options, question, { attempt, withdrawn: ending.signal })
      .then((result) => {
        if (result === undefined || ending.signal.aborted) return;
        settled.push(result);
        if (!works.has(result.key)) works.set(result.key, call.work());
      })
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => {
        one.isSettled = true;
        attendant?.onSettled();
      });
    const one: AskedQuestion = { ending, over, isSettled: false };
    open.set(question.key, one);
    void attendant?.waiting(() => over);
  }

  function delivered(key: string): void {
    works.get(key)?.();
    works.delete(key);
  }

  function takeBackAllBut(questions: readonly RemoteQuestion[]): void {
    for (const [key, { ending }] of open) {
      if (questions.some((one) => one.key === key)) continue;
      ending.abort();
      open.delete(key);
    }
    for (const key of works.keys())
      if (![...questions, ...settled].some((one) => one.key === key)) delivered(key);
  }

  return {
    attendBy(next) {
      attendant = next;
      for (const { over, isSettled } of open.values()) if (!isSettled) void next.waiting(() => over);
    },
    update(questions, { asked, done, refusals }) {
      takeBackAllBut(questions);
      const ever = new Set([...asked, ...done]);
      const repeated = Object.values(refusals).reduce((sum, count) => sum + count, 0);
      for (const question of questions) {
        const { key } = question;
        const isKnown = ever.has(key);
        if (done.includes(key) || open.has(key) || (isKnown && question.type === 'notice')) continue;
        isExceeded ||= ever.size + (isKnown ? 0 : 1) + repeated > questionsMax;
        if (isExceeded) break;
        ever.add(key);
        start(question, refusals[key] ?? 0);
      }
      return [...ever];
    },
    take() {
      if (failure !== undefined) throw failure.error;
      const ended = settled.splice(0);
      // A question whose answer is refused is asked again, so it is no longer open here.
      for (const { key } of ended) open.delete(key);
      return ended;
    },
    delivered,
    get isAsking() {
      return [...open.values()].some(({ isSettled }) => !isSettled);
    },
    get isExceeded() {
      return isExceeded;
    },
    close() {
      for (const { ending } of open.values()) ending.abort();
      for (const key of works.keys()) delivered(key);
    },
  };
}

const AUTH_REQUIRED = 'a2a_auth_required';
const UNASKED = 'The user cannot be asked here.';
const REFUSED: Partial<Record<AskOutcome['status'], string>> = {
  declined: 'The user declined to answer.',
  cancelled: 'The user closed the question without an answer.',
  expired: 'The user did not answer in time.',
};

/** The settlement for an outcome that does not answer a question in words. */
function unanswered(key: string, outcome: AskOutcome | undefined): SettledQuestion {
  if (outcome?.status === 'withdrawn') return { key, isAnswer: false };
  const text = outcome === undefined ? UNASKED : (REFUSED[outcome.status] ?? UNASKED);
  return { key, part: { text }, isAnswer: false };
}

/** Puts one question to the person. Undefined if the agent is to be told nothing. */
async function askRemote(
  call: ToolCall,
  options: RemoteQuestionsOptions,
  question: RemoteQuestion,
  { attempt, withdrawn }: { readonly attempt: number; readonly withdrawn: AbortSignal },
): Promise<SettledQuestion | undefined> {
  const { key } = question;
  const by = {
    agent: options.agent,
    trigger: 'a2a_input_required',
    timeoutSeconds: options.questionTimeoutSeconds,
    round: attempt,
    digest: key,
    withdrawn,
  } as const;
  switch (question.type) {
    case 'unusable':
      return cancelled(key, question.elicitationId);
    case 'notice':
      await showNotice(call, options.agent, question.message);
      return undefined;
    case 'extension':
      return askByExtension(call, by, question);
    case 'text': {
      const outcome = await askForAgent(call, by, textAsk(question.message, options.agent.title));
      if (outcome?.status !== 'accepted') return unanswered(key, outcome);
      return { key, part: { text: String(outcome.content?.answer ?? '') }, isAnswer: true };
    }
    case 'page':
      return visit(call, by, question);
  }
}

function cancelled(key: string, elicitationId: string): SettledQuestion {
  return {
    key,
    part: { data: { type: 'elicitation-response', elicitationId, action: 'cancel' } },
    isAnswer: false,
  };
}

async function askByExtension(
  call: ToolCall,
  by: AskingAgent,
  remote: Extract<RemoteQuestion, { type: 'extension' }>,
): Promise<SettledQuestion> {
  const { key, elicitationId, question } = remote;
  const trigger = question.mode === 'url' ? AUTH_REQUIRED : by.trigger;
  const outcome = await askForAgent(call, { ...by, trigger }, extensionAsk(remote, by.timeoutSeconds));
  if (outcome === undefined) return cancelled(key, elicitationId);
  if (outcome.status === 'withdrawn') return unanswered(key, outcome);
  const isAnswer = outcome.status === 'accepted';
  const action = isAnswer ? 'accept' : outcome.status === 'declined' ? 'decline' : 'cancel';
  const content =
    isAnswer && question.mode === 'form'
      ? { content: restoreContent(outcome.content ?? {}, question.restores) }
      : {};
  return {
    key,
    part: { data: { type: 'elicitation-response', elicitationId, action, ...content } },
    isAnswer,
  };
}

/** The person visits a page, unless the agent continues before that. */
async function visit(
  call: ToolCall,
  by: AskingAgent,
  page: Extract<RemoteQuestion, { type: 'page' }>,
): Promise<SettledQuestion | undefined> {
  const { key } = page;
  const { opened, finished } = await visitPage(
    call,
    (step) => (step === 'open' ? { ...by, trigger: AUTH_REQUIRED } : { ...by, digest: `${key} finished` }),
    page,
  );
  if (opened?.status !== 'accepted') {
    if (opened === undefined) await showNotice(call, by.agent, page.message);
    return unanswered(key, opened);
  }
  // If no form could be shown, the agent must find out itself that the person has finished.
  if (finished === undefined) return undefined;
  if (finished.status !== 'accepted') return unanswered(key, finished);
  return { key, part: { text: `The user has finished at ${new URL(page.url).host}.` }, isAnswer: true };
}

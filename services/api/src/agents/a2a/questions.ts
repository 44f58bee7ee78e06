import { isParleyError } from '@parley/shared/domain/errors';
import { isAsked } from '@parley/shared/domain/reach';
import type { AgentQuestion, AskOutcome } from '../tools/question.ts';
import type { ToolCall } from '../tools/tool.ts';
import type { TaskCheckpoint } from './checkpoint.ts';
import type { OutgoingMessage } from './link.ts';
import type { RemoteQuestion } from './read-questions.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';

/** A question that has ended, with what the agent is told. */
export interface SettledQuestion {
  readonly key: string;
  readonly part: OutgoingMessage['part'];
  /** True when the person gave an answer that the agent may refuse. */
  readonly isAnswer: boolean;
}

/** The questions of one remote task: they become elicitations on the turn's stream. */
export interface RemoteQuestions {
  /** Asks what is new among the open questions, and takes back what is not open any more. */
  update(open: readonly RemoteQuestion[], state: TaskCheckpoint): void;
  /** The questions that have ended since. Throws the reason of the call's signal. */
  take(): readonly SettledQuestion[];
  /** True while the person is asked. */
  readonly isAsking: boolean;
  /** True when the agent has asked more than it may. */
  readonly isExceeded: boolean;
  close(): void;
}

export interface RemoteQuestionsOptions {
  readonly agent: Pick<RemoteAgentTarget, 'id' | 'title' | 'mayAsk'>;
  readonly questionsMax: number;
  readonly questionTimeoutSeconds: number;
  /** Runs a wait for the person. The time of the task is paused meanwhile. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Called when a question has ended. */
  readonly onSettled: () => void;
}

interface AskedQuestion {
  readonly ending: AbortController;
  isSettled: boolean;
}

export function createRemoteQuestions(call: ToolCall, options: RemoteQuestionsOptions): RemoteQuestions {
  const { questionsMax, onSettled } = options;
  const open = new Map<string, AskedQuestion>();
  const settled: SettledQuestion[] = [];
  let failure: { readonly error: unknown } | undefined;
  let isExceeded = false;

  function start(question: RemoteQuestion, attempt: number): void {
    const one: AskedQuestion = { ending: new AbortController(), isSettled: false };
    open.set(question.key, one);
    askRemote(call, options, question, attempt, one.ending.signal)
      .then((result) => {
        if (result !== undefined && !one.ending.signal.aborted) settled.push(result);
      })
      .catch((error: unknown) => {
        failure ??= { error };
      })
      .finally(() => {
        one.isSettled = true;
        onSettled();
      });
  }

  return {
    update(questions, { done, refusals }) {
      for (const [key, { ending }] of open)
        if (!questions.some((one) => one.key === key)) {
          ending.abort();
          open.delete(key);
        }
      const before = done.length + Object.values(refusals).reduce((sum, count) => sum + count, 0);
      for (const question of questions) {
        if (done.includes(question.key) || open.has(question.key)) continue;
        isExceeded ||= before + open.size >= questionsMax;
        if (!isExceeded) start(question, refusals[question.key] ?? 0);
      }
    },
    take() {
      if (failure !== undefined) throw failure.error;
      const ended = settled.splice(0);
      // One whose answer is refused is asked again.
      for (const { key } of ended) open.delete(key);
      return ended;
    },
    get isAsking() {
      return [...open.values()].some(({ isSettled }) => !isSettled);
    },
    get isExceeded() {
      return isExceeded;
    },
    close() {
      for (const { ending } of open.values()) ending.abort();
    },
  };
}

const UNASKED = 'The user cannot be asked here.';
const REFUSED: Partial<Record<AskOutcome['status'], string>> = {
  declined: 'The user declined to answer.',
  cancelled: 'The user closed the question without an answer.',
  expired: 'The user did not answer in time.',
};

/** Puts one question to the person. Undefined when nothing is to be said to the agent. */
async function askRemote(
  call: ToolCall,
  options: RemoteQuestionsOptions,
  question: RemoteQuestion,
  attempt: number,
  taken: AbortSignal,
): Promise<SettledQuestion | undefined> {
  const { key } = question;
  const cancel = (elicitationId: string): SettledQuestion => ({
    key,
    part: { data: { type: 'elicitation-response', elicitationId, action: 'cancel' } },
    isAnswer: false,
  });
  switch (question.type) {
    case 'unusable':
      return cancel(question.elicitationId);
    case 'notice':
      await showNotice(call, options, question.message);
      return undefined;
    case 'extension': {
      const outcome = await ask(call, options, extensionAsk(question, options), attempt, [key], taken);
      if (outcome === undefined) return cancel(question.elicitationId);
      const { elicitationId } = question;
      const isAnswer = outcome.status === 'accepted';
      const action = isAnswer ? 'accept' : outcome.status === 'declined' ? 'decline' : 'cancel';
      const content = isAnswer && question.question.mode === 'form' ? { content: outcome.content ?? {} } : {};
      return {
        key,
        part: { data: { type: 'elicitation-response', elicitationId, action, ...content } },
        isAnswer,
      };
    }
    case 'text': {
      const outcome = await ask(call, options, textAsk(question.message, options), attempt, [key], taken);
      const answer = outcome?.status === 'accepted' ? String(outcome.content?.answer ?? '') : undefined;
      const text = answer ?? (outcome === undefined ? UNASKED : (REFUSED[outcome.status] ?? UNASKED));
      return { key, part: { text }, isAnswer: answer !== undefined };
    }
    case 'page':
      return visit(call, options, question, attempt, taken);
  }
}

/** The person opens the page, and then says that they have finished there, unless the agent continues before. */
async function visit(
  call: ToolCall,
  options: RemoteQuestionsOptions,
  { key, message, url }: Extract<RemoteQuestion, { type: 'page' }>,
  attempt: number,
  taken: AbortSignal,
): Promise<SettledQuestion | undefined> {
  const { host } = new URL(url);
  const opened = await ask(call, options, pageAsk(message, url, options), attempt, [key], taken);
  if (opened?.status !== 'accepted') {
    if (opened === undefined) await showNotice(call, options, message);
    const text = opened === undefined ? UNASKED : (REFUSED[opened.status] ?? UNASKED);
    return { key, part: { text }, isAnswer: false };
  }
  const finishing: Asked = {
    mode: 'form',
    message: `Please continue when you have finished at ${host}.`,
    requestedSchema: { type: 'object', properties: {} },
  };
  const finished = await ask(call, options, finishing, attempt, [key, 'finished'], taken);
  // Without a form, the agent must notice by itself that the person has finished.
  if (finished === undefined) return undefined;
  const isAnswer = finished.status === 'accepted';
  const text = isAnswer ? `The user has finished at ${host}.` : (REFUSED[finished.status] ?? UNASKED);
  return { key, part: { text }, isAnswer };
}

type Asked = Pick<
  AgentQuestion,
  | 'mode'
  | 'message'
  | 'description'
  | 'requestedSchema'
  | 'url'
  | 'completion'
  | 'sensitive'
  | 'timeoutSeconds'
>;

/** Asks. Undefined when the question cannot be put to the person. */
async function ask(
  call: ToolCall,
  { agent, waiting, questionTimeoutSeconds }: RemoteQuestionsOptions,
  question: Asked,
  attempt: number,
  place: readonly string[],
  withdrawn: AbortSignal,
): Promise<AskOutcome | undefined> {
  const asked: AgentQuestion = {
    title: `${agent.title} asks`,
    timeoutSeconds: questionTimeoutSeconds,
    ...question,
    context: {
      trigger: question.mode === 'url' ? 'a2a_auth_required' : 'a2a_input_required',
      toolId: agent.id,
      toolName: agent.title,
    },
  };
  if (!agent.mayAsk || !call.isAttended || !isAsked(call.reach(asked))) return undefined;
  try {
    return await waiting(() =>
      call.ask(attempt, asked, { digest: place.join(' '), withdrawn, patterns: true }),
    );
  } catch (error) {
    // Such as an address that people may not be sent to, or a schema outside the subset.
    if (isParleyError(error)) return undefined;
    throw error;
  }
}

function extensionAsk(
  { question, sensitive, description, expiresAt }: Extract<RemoteQuestion, { type: 'extension' }>,
  { questionTimeoutSeconds }: RemoteQuestionsOptions,
): Asked {
  const leftSeconds = Math.floor((Date.parse(expiresAt) - Date.now()) / 1_000);
  const timeoutSeconds = Math.max(1, Math.min(questionTimeoutSeconds, leftSeconds));
  const { message } = question;
  if (question.mode === 'url') return { ...pageOf(question.url, description), message, timeoutSeconds };
  return {
    mode: 'form',
    message,
    requestedSchema: question.requestedSchema,
    timeoutSeconds,
    ...(description !== undefined && { description }),
    ...(sensitive && { sensitive }),
  };
}

function textAsk(message: string, { agent }: RemoteQuestionsOptions): Asked {
  return {
    mode: 'form',
    message: message === '' ? `${agent.title} needs more to continue.` : message,
    requestedSchema: {
      type: 'object',
      properties: { answer: { type: 'string', title: 'Answer' } },
      required: ['answer'],
    },
  };
}

function pageAsk(message: string, url: string, { agent }: RemoteQuestionsOptions): Asked {
  return { ...pageOf(url), message: message === '' ? `${agent.title} needs an authorization.` : message };
}

/** A page by url mode, with its host in words. */
function pageOf(url: string, description?: string) {
  const host = URL.canParse(url) ? `The page is at ${new URL(url).host}.` : '';
  return {
    mode: 'url',
    url,
    completion: 'client',
    description: [description, host].filter((one) => one !== undefined && one !== '').join('\n'),
  } as const;
}

/** Shows the person that the agent waits for something that cannot be asked. */
async function showNotice(
  call: ToolCall,
  { agent: { id, title } }: RemoteQuestionsOptions,
  message: string,
): Promise<void> {
  await call.appendEvent({
    type: 'tool-auth-required',
    toolCallId: call.toolCallId,
    toolId: id,
    toolName: title,
    service: title,
    message: `${title} waits for an authorization.${message === '' ? '' : ` It says: ${message}`}`,
  });
}

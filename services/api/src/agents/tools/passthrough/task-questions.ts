import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';
import type { ServerReply } from '../../mcp/questions/client-ask.ts';
import { requestIn } from './read-asked.ts';
import type { ServerQuestions } from './server-questions.ts';
import type { OpenTaskRequest } from './server-task.ts';

/** The requests of a task while this pod attends to it. */
export interface ServerTaskQuestions {
  /** Asks. A request that any pod asked before leads to the same question. */
  start(requests: readonly OpenTaskRequest[]): void;
  /** Withdraws questions. Resolves when they have ended. */
  withdraw(keys: readonly string[]): Promise<void>;
  /** The answers that the server does not have yet, by its keys. Throws the error of a failed ask. */
  answers(): ReadonlyMap<string, ServerReply>;
  /** Reports that the server has the answer. */
  delivered(key: string): void;
  /** True while somebody is being asked. */
  readonly isAsking: boolean;
}

interface ServerTaskQuestionsOptions {
  readonly server: McpServerRef;
  readonly questions: ServerQuestions;
  /** Runs a wait for the person, during which the task's clock is paused. */
  readonly waiting: <T>(wait: () => Promise<T>) => Promise<T>;
  /** Called when an ask has ended. */
  readonly onSettled: () => void;
}

export function createTaskQuestions({
  server,
  questions,
  waiting,
  onSettled,
}: ServerTaskQuestionsOptions): ServerTaskQuestions {
  const asked = new Map<string, { readonly ending: AbortController; readonly ended: Promise<void> }>();
  const answers = new Map<string, ServerReply>();
  let failure: { readonly error: unknown } | undefined;

  async function ask({ key, ordinal, request }: OpenTaskRequest, signal: AbortSignal): Promise<void> {
    try {
      const reply = await waiting(async () => questions.askAt(ordinal, requestIn(request, server), signal));
      if (!signal.aborted) answers.set(key, reply);
    } catch (error) {
      // Errors of withdrawn questions are ignored.
      if (!signal.aborted) failure ??= { error };
    } finally {
      asked.delete(key);
      onSettled();
    }
  }

  return {
    start(requests) {
      for (const one of requests) {
        const ending = new AbortController();
        asked.set(one.key, { ending, ended: ask(one, ending.signal) });
      }
    },
    async withdraw(keys) {
      const open = keys.flatMap((key) => asked.get(key) ?? []);
      for (const { ending } of open) ending.abort();
      for (const key of keys) answers.delete(key);
      await Promise.all(open.map(({ ended }) => ended));
    },
    answers() {
      if (failure !== undefined) throw failure.error;
      return answers;
    },
    delivered: (key) => void answers.delete(key),
    get isAsking() {
      return asked.size > 0;
    },
  };
}

/**
 * Asks a person through the first of several handlers that can, with checks, steps and deadlines that are the same for all of
 * them. How a handler reaches the person is in `handlers/`.
 */

import type { AnswerOf, Ask, FieldValue } from './asks.ts';
import type { AnswerFault } from './flat-fields.ts';
import type { ElicitationHandler, Prompt, PromptReply } from './handler.ts';
import { type AskOutcome, type Attempt, NobodyCanAskError, QuestionLostError } from './outcome.ts';
import { ANSWER_FIELD, type Page, pagesOf } from './pages.ts';
import { createScreenQueue, type ScreenQueue } from './queue.ts';
import { createSecretAnswer } from './secret-answer.ts';

export interface ElicitorOptions {
  readonly handlers: readonly ElicitationHandler[];
  /** The time-out of asks that have none. @default 600 */
  readonly timeoutSeconds?: number;
  /** What happens when nobody can be asked and the ask has no fallback. @default 'error' */
  readonly onNobody?: 'error' | 'cancel';
}

export interface AskCall {
  /** Withdraws the question when aborted; `ask` then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Your own key for the question. A handler that stores questions asks it only once, even after a restart. */
  readonly key?: string;
}

/** Asks people through whichever handler is able to. */
export interface Elicitor {
  /**
   * Asks and waits. Rejects with NobodyCanAskError, with `invalid_request` for an ask that breaks the rules, or with
   * the reason of an aborted signal.
   *
   * @example
   * const outcome = await elicitor.ask({ kind: 'choice', message: 'Which one?', options: ['a', 'b'] });
   * if (outcome.status === 'accepted') use(outcome.value); // 'a' | 'b'
   */
  ask<const Asked extends Ask>(ask: Asked, call?: AskCall): Promise<AskOutcome<AnswerOf<Asked>>>;
}

const DEFAULT_TIMEOUT_SECONDS = 600;
/**
 * The maximum number of answers from one handler to one page, because a handler without a person may never give a valid one.
 */
const ANSWERS_MAX = 10;

/**
 * Creates an elicitor. Among the handlers that can show a prompt, the one with the highest priority shows it; if it
 * fails, the next one does. After an invalid answer, the page is shown again with the fault of each field. After ten
 * invalid answers to one page, a handler counts as failed.
 *
 * @example
 * const elicitor = createElicitor({ handlers: [createParleyHandler({ client, userId: 'ada' })], timeoutSeconds: 600 });
 */
export function createElicitor(options: ElicitorOptions): Elicitor {
  const handlers = [...options.handlers].sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0));
  const queues = new Map(
    handlers.map((handler) => [handler, handler.oneAtATime ? createScreenQueue() : undefined]),
  );
  const { timeoutSeconds: usualSeconds = DEFAULT_TIMEOUT_SECONDS, onNobody = 'error' } = options;

  return {
    async ask<const Asked extends Ask>(ask: Asked, { signal, key }: AskCall = {}) {
      signal?.throwIfAborted();
      const pages = pagesOf(ask);
      const deadline = createDeadline((ask.timeoutSeconds ?? usualSeconds) * 1_000, signal);
      const asking = { ask, handlers, queues, deadline, key, failed: new Map<ElicitationHandler, unknown>() };
      try {
        const ended = await (pages === undefined ? askSimple(asking) : askPages(asking, pages));
        return ended as AskOutcome<AnswerOf<Asked>>;
      } catch (error) {
        signal?.throwIfAborted();
        if (deadline.signal.aborted) return { status: 'expired' } as const;
        if (!(error instanceof NobodyCanAskError)) throw error;
        if (ask.fallback !== undefined) {
          return { status: 'defaulted', value: ask.fallback as AnswerOf<Asked> } as const;
        }
        if (onNobody === 'cancel') return { status: 'cancelled' } as const;
        throw error;
      } finally {
        deadline.clear();
      }
    },
  };
}

interface Asking {
  readonly ask: Ask;
  readonly handlers: readonly ElicitationHandler[];
  readonly queues: ReadonlyMap<ElicitationHandler, ScreenQueue | undefined>;
  readonly deadline: Deadline;
  readonly key: string | undefined;
  /** Handlers that failed during this ask. They are not tried again. */
  readonly failed: Map<ElicitationHandler, unknown>;
}

interface Deadline {
  readonly signal: AbortSignal;
  remainingMs(): number;
  clear(): void;
}

/** A timer of more than 24.8 days would fire at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

function createDeadline(timeoutMs: number, signal: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const endsAt = performance.now() + timeoutMs;
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(
    () => controller.abort(new Error('The deadline passed.')),
    Math.min(timeoutMs, TIMER_MS_MAX),
  );
  return {
    signal: controller.signal,
    remainingMs: () => Math.max(endsAt - performance.now(), 0),
    clear() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

async function askSimple(asking: Asking): Promise<AskOutcome<unknown>> {
  const { ask } = asking;
  const prompt: Prompt =
    ask.kind === 'url'
      ? { ...baseOf(ask), mode: 'url', url: ask.url }
      : {
          ...baseOf(ask),
          mode: 'secret',
          ...(ask.kind === 'secret' && ask.name !== undefined && { name: ask.name }),
        };
  const { reply, handler } = await show(asking, prompt, 0);
  if (reply.action !== 'accept') return outcomeOf(reply, handler.name);
  const value = prompt.mode === 'url' ? undefined : createSecretAnswer(String(reply.content ?? ''));
  return { status: 'accepted', value, handler: handler.name };
}

async function askPages(asking: Asking, pages: readonly Page[]): Promise<AskOutcome<unknown>> {
  const { ask } = asking;
  const answers: Record<string, FieldValue> = {};
  let whole: unknown;
  let handler = '';
  for (const [index, page] of pages.entries()) {
    if (!page.isShown(answers)) continue;
    let faults: readonly AnswerFault[] = [];
    let answersLeft = ANSWERS_MAX;
    for (let round = 0; ; round += 1) {
      const shown = await show(asking, promptOf(ask, page, index, faults), round);
      handler = shown.handler.name;
      if (shown.reply.action !== 'accept') return outcomeOf(shown.reply, handler);
      const reading = await page.read(shown.reply.content ?? {});
      if (reading.ok) {
        Object.assign(answers, reading.values);
        whole = reading.whole ?? answers;
        break;
      }
      faults = reading.faults;
      answersLeft -= 1;
      if (answersLeft > 0) continue;
      asking.failed.set(shown.handler, new Error(`${ANSWERS_MAX} answers broke the rules.`));
      answersLeft = ANSWERS_MAX;
    }
  }
  const isSole = ask.kind !== 'form' && ask.kind !== 'approval';
  return { status: 'accepted', value: isSole ? answers[ANSWER_FIELD] : (whole ?? answers), handler };
}

function promptOf(ask: Ask, page: Page, index: number, faults: readonly AnswerFault[]): Prompt {
  return {
    ...baseOf(ask),
    mode: 'form',
    ...(page.title !== undefined && { title: page.title }),
    ...(page.message !== undefined && { message: page.message }),
    schema: page.schema,
    page: index,
    faults,
  };
}

function baseOf(ask: Ask) {
  const message =
    ask.kind === 'approval'
      ? [
          ask.message,
          '',
          ask.action,
          ...Object.entries(ask.details ?? {}).map(([name, text]) => `${name}: ${text}`),
        ].join('\n')
      : ask.message;
  return {
    ask,
    message,
    page: 0,
    faults: [],
    ...(ask.title !== undefined && { title: ask.title }),
    ...(ask.description !== undefined && { description: ask.description }),
    ...(ask.sensitive === true && { sensitive: true }),
  };
}

function outcomeOf(reply: Exclude<PromptReply, { action: 'accept' }>, handler: string): AskOutcome<never> {
  switch (reply.action) {
    case 'decline':
      return { status: 'declined', handler };
    case 'cancel':
      return { status: 'cancelled', handler };
    case 'expire':
      return { status: 'expired', handler };
    case 'withdraw':
      return { status: 'withdrawn', reason: reply.reason, handler };
  }
}

/** Shows one prompt through the first handler that can show it and does not fail. */
async function show(
  asking: Asking,
  prompt: Prompt,
  round: number,
): Promise<{ readonly reply: PromptReply; readonly handler: ElicitationHandler }> {
  const { handlers, queues, deadline, failed } = asking;
  const attempts: Attempt[] = [];
  for (const handler of handlers) {
    const { name } = handler;
    if (failed.has(handler)) {
      attempts.push({ handler: name, reason: 'failed', error: failed.get(handler) });
      continue;
    }
    if (!(await can(handler, prompt))) {
      attempts.push({ handler: name, reason: 'cannot' });
      continue;
    }
    deadline.signal.throwIfAborted();
    const isLater = prompt.page > 0 || round > 0;
    const release = await queues.get(handler)?.acquire(deadline.signal, { first: isLater });
    try {
      const key = asking.key === undefined ? {} : { key: `${asking.key}.${prompt.page}.${round}` };
      const call = { signal: deadline.signal, remainingMs: deadline.remainingMs(), ...key };
      return { reply: await untilAborted(handler.handle(prompt, call), deadline.signal), handler };
    } catch (error) {
      if (deadline.signal.aborted || error instanceof QuestionLostError) throw error;
      failed.set(handler, error);
      attempts.push({ handler: name, reason: 'failed', error });
    } finally {
      release?.();
    }
  }
  throw new NobodyCanAskError(prompt.ask.kind, attempts);
}

async function can(handler: ElicitationHandler, prompt: Prompt): Promise<boolean> {
  try {
    return await handler.canHandle(prompt);
  } catch {
    return false;
  }
}

/** Keeps a handler that ignores its signal from delaying the deadline. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    // This is attached in every case, so that no rejection of the handler is unhandled.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}

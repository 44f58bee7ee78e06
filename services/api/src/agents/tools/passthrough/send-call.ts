/**
 * Sends a call to a server, and answers its rounds of questions in a way that any pod can continue. Questions are asked in
 * `server-questions.ts`, tasks are in `attend-task.ts`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { McpCallOptions } from '../../mcp/calls/call.ts';
import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';
import type { ServerReply } from '../../mcp/questions/client-ask.ts';
import type { McpCallResult, McpFailure, McpRound } from '../../mcp/results.ts';
import { isVisible } from '../../mcp/visibility.ts';
import { NO_SUCH_TOOL, type ToolCall } from '../../run/tool.ts';
import { attendTask } from './attend-task.ts';
import { failureOfAsking, requestIn } from './read-asked.ts';
import type { QuestionRound } from './rounds.ts';
import type { SendRules } from './send-rules.ts';
import { createServerQuestions, type ServerQuestions } from './server-questions.ts';
import { newTask, type ServerTask } from './server-task.ts';

const ROUNDS_MAX = 50;
const PROGRESS_MAX = 500;
const PROGRESS_LENGTH = 500;
const LOG_MAX = 200;
const LOG_LENGTH = 2_000;
const LOGGER_LENGTH = 200;
const PAUSE_MIN_MS = 250;
const PAUSE_MAX_MS = 5_000;

/**
 * Makes a call of a server's tool, as `sendAnswering` does, unless the viewer may not use the tool. If the server makes a task
 * of it, the task is attended to until its end, even if another pod began it.
 */
export async function sendCall(
  call: ToolCall,
  server: McpServerRef,
  name: string,
  rules: SendRules,
): Promise<McpCallResult> {
  const { timeoutMs, whole, pages } = rules;
  const begun = taskOf(call, rules);
  if (begun !== undefined) return attendTask(call, server, rules, begun);
  const hidden = await refusalOf(call, server, name, rules);
  if (hidden !== undefined) return hidden;
  let asked: ServerQuestions | undefined;
  const reply = await sendAnswering(call, server, rules, async (options) => {
    asked = options.asker;
    return server.call(name, argumentsOf(await call.beforeDispatch()), {
      signal: call.signal,
      timeoutMs,
      ...((whole || pages) && { whole: true }),
      ...(whole && { onProgress: progressOf(call), onLog: logOf(call) }),
      ...options,
    });
  });
  return reply.type === 'task' ? attendTask(call, server, rules, newTask(reply, asked)) : reply;
}

/** The task that the server made of a call, if any. */
export function taskOf(
  { callKey, round }: Pick<ToolCall, 'callKey' | 'round'>,
  { rounds }: Pick<SendRules, 'rounds'>,
): ServerTask | undefined {
  const begun = rounds?.unseal(callKey, round() ?? '')?.progress;
  return begun !== undefined && 'taskId' in begun ? begun : undefined;
}

/** The questions of a request, and the answers to its last round. */
interface AnsweringOptions extends Pick<McpCallOptions, 'answers'> {
  readonly asker?: ServerQuestions;
}

/**
 * Makes a call of a server's tool, or reads from it. The server's questions during the call become questions on the turn's
 * stream. Records the call as dispatched before each request. While a round of questions is open (2026-07-28), the call is
 * recorded as not executed, together with the round, so that another pod can continue it. Rejects only with the reason of the
 * call's signal.
 */
export async function sendAnswering<Result extends { readonly type: string }>(
  call: ToolCall,
  server: McpServerRef,
  rules: SendRules,
  send: (options: AnsweringOptions) => Promise<Result | McpRound>,
): Promise<Result | McpRound | McpFailure> {
  const { rounds } = rules;
  if (server.modes === undefined) return send({});

  const save = async (next: QuestionRound) => {
    if (rounds !== undefined) await call.saveRound(rounds.seal(call.callKey, next), rounds.serverId);
  };
  let round: QuestionRound | undefined;
  const sealed = call.round();
  if (sealed !== undefined) {
    const opened = rounds?.unseal(call.callKey, sealed);
    if (opened === undefined || 'taskId' in opened.progress)
      return { type: 'lost', message: 'What it was waiting for cannot be read on this pod.' };
    round = opened.progress;
    // The round is sealed again with the current key. Later writes of the call repeat it and must not use the old key.
    if (opened.isAged) await save(round);
  }
  const questions = createServerQuestions(call, server, rules, round);
  for (;;) {
    const answers = round && (await answersTo(call, server, questions, round));
    if (answers !== undefined && 'type' in answers) return answers;
    const result = await send({ asker: questions, ...(answers !== undefined && { answers }) });
    if (!isRound(result)) return result;
    const number: number = (round?.number ?? 0) + 1;
    if (number > ROUNDS_MAX) return { type: 'refused', message: 'The server never stops asking.' };
    const { requests, state } = result;
    const { count: asked, sampled } = questions;
    const opened = [...questions.opened];
    round = { number, asked, sampled, requests, ...(state !== undefined && { state }), opened };
    await save(round);
  }
}

/**
 * Why the call is refused. Reads the server's list, which may have changed or have been unknown when the call began. Tools that
 * the server lists but Parley does not offer count as hidden. Without a list nothing is called.
 */
async function refusalOf(
  { signal }: ToolCall,
  server: McpServerRef,
  name: string,
  { viewer }: SendRules,
): Promise<McpFailure | undefined> {
  const list = await server.listTools({ signal });
  if (list.type !== 'tools') return 'dispatched' in list ? { ...list, dispatched: 'no' } : list;
  const tool = list.tools.find((one) => one.name === name);
  const isHidden =
    tool === undefined ? list.dropped.some((one) => one.name === name) : !isVisible(tool, viewer);
  return isHidden ? { type: 'refused', message: NO_SUCH_TOOL } : undefined;
}

function isRound(result: { readonly type: string }): result is McpRound {
  return result.type === 'round';
}

/** Appends the server's progress reports to the turn's feed, up to a limit. */
function progressOf({ toolCallId, appendEvent }: ToolCall): NonNullable<McpCallOptions['onProgress']> {
  let events = 0;
  return ({ progress, total, message }) => {
    events += 1;
    if (events > PROGRESS_MAX) return;
    const more = {
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message: message.slice(0, PROGRESS_LENGTH) }),
    };
    // A run that can no longer write ends by itself.
    void appendEvent({ type: 'tool-progress', toolCallId, progress, ...more }).catch(() => undefined);
  };
}

/**
 * Appends the server's log messages to the turn's feed, up to a limit. They are for the client of the call, not for operators.
 */
function logOf({ toolCallId, appendEvent }: ToolCall): NonNullable<McpCallOptions['onLog']> {
  let events = 0;
  return ({ level, logger, data }) => {
    events += 1;
    if (events > LOG_MAX) return;
    const text = JSON.stringify(data) ?? 'null';
    const more = {
      data: text.length > LOG_LENGTH ? `${text.slice(0, LOG_LENGTH)}…` : data,
      ...(logger !== undefined && { logger: logger.slice(0, LOGGER_LENGTH) }),
    };
    void appendEvent({ type: 'tool-log', toolCallId, level, ...more }).catch(() => undefined);
  };
}

type Answers = NonNullable<McpCallOptions['answers']>;

/** Asks all questions of a round at once. */
async function answersTo(
  call: ToolCall,
  server: McpServerRef,
  questions: ServerQuestions,
  { requests, state, number, asked }: QuestionRound,
): Promise<Answers | McpFailure> {
  const echoed = state !== undefined && { requestState: state };
  const entries = Object.entries(requests);
  if (entries.length === 0) {
    await pause(Math.min(PAUSE_MIN_MS * 2 ** (number - 1), PAUSE_MAX_MS), call.signal);
    return { ...echoed };
  }
  const ending = new AbortController();
  try {
    // All requests are read before the first is asked, so that the person does not answer in vain.
    const read = entries.map(([key, request]) => [key, requestIn(request, server)] as const);
    const answered = await Promise.all(
      read.map(
        async ([key, question], at): Promise<[string, ServerReply]> => [
          key,
          await questions.askAt(asked + at, question, ending.signal),
        ],
      ),
    );
    return { inputResponses: Object.fromEntries(answered), ...echoed };
  } catch (error) {
    ending.abort();
    return failureOfAsking(error);
  }
}

/** The server asks for nothing except that the call is repeated. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/** The arguments that a model gave to a call. */
export function argumentsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
}

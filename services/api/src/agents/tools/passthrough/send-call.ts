import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolErrorCode } from '@modelcontextprotocol/client';
import { isRecord } from '@parley/shared/domain/plain-record';
import type { McpCallOptions } from '../../mcp/calls/call.ts';
import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';
import type { McpCallResult, McpFailure, McpRound } from '../../mcp/calls/results.ts';
import { isVisible, type Viewer } from '../../mcp/calls/visibility.ts';
import { TooManyQuestions } from '../../mcp/errors.ts';
import {
  ClientRefused,
  capabilityFor,
  isAskable,
  readRequest,
  type ServerReply,
  type ServerRequest,
} from '../../mcp/questions/client-ask.ts';
import { QuestionRefused } from '../../mcp/questions/question.ts';
import { NO_SUCH_TOOL, type ToolCall } from '../tool.ts';
import type { OpenedRound, QuestionRound } from './rounds.ts';
import { createServerQuestions, type QuestionLimits, type ServerQuestions } from './server-questions.ts';

export interface SendRules extends QuestionLimits {
  /** Who makes the call. */
  readonly viewer: Viewer;
  /** How long one request may take, in ms. Waits for people do not count. */
  readonly timeoutMs: number;
  /** True: the result also has the server's own form, for callers that are no model. */
  readonly whole?: true;
  /** True: the result of a tool with a page has that form, too, for the page. */
  readonly pages?: boolean;
  /** Keeps a round in the record of its call. Absent: no other pod can continue the call. */
  readonly rounds?: RoundKeeper | undefined;
}

/** Seals the rounds of one server's calls by one person. */
export interface RoundKeeper {
  readonly serverId: string;
  seal(callKey: string, round: QuestionRound): string;
  unseal(callKey: string, sealed: string): OpenedRound | undefined;
}

const ROUNDS_MAX = 50;
const PROGRESS_MAX = 500;
const PROGRESS_LENGTH = 500;
const LOG_MAX = 200;
const LOG_LENGTH = 2_000;
const LOGGER_LENGTH = 200;
const PAUSE_MIN_MS = 250;
const PAUSE_MAX_MS = 5_000;

/** Makes a call of a server's tool, as `sendAnswering`, unless the tool is not for who makes it. */
export async function sendCall(
  call: ToolCall,
  server: McpServerRef,
  name: string,
  rules: SendRules,
): Promise<McpCallResult> {
  const { timeoutMs, whole, pages } = rules;
  const hidden = await refusalOf(call, server, name, rules);
  if (hidden !== undefined) return hidden;
  return sendAnswering(call, server, rules, async (options) =>
    server.call(name, argumentsOf(await call.beforeDispatch()), {
      signal: call.signal,
      timeoutMs,
      ...((whole || pages) && { whole: true }),
      ...(whole && { onProgress: progressOf(call), onLog: logOf(call) }),
      ...options,
    }),
  );
}

/** The questions of a request, and the answers to its last round. */
export type AnsweringOptions = Pick<McpCallOptions, 'asker' | 'answers'>;

/**
 * Makes a call of a server's tool, or reads from it. What the server asks during the call becomes questions on the turn's stream. Records the call
 * as dispatched before each request; while a round of questions is open (2026-07-28), it is recorded as not executed, with
 * the round, so that another pod can continue it. Rejects only with the reason of the call's signal.
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
    if (opened === undefined) return lost();
    round = opened.round;
    // Further writes of the call repeat its round, which must not return to a key that is being replaced.
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
 * Asks the server's list, since it may have changed, or may not have been known when the call began. What the server lists and
 * Parley does not offer counts as hidden, and without a list nothing is called.
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

/** Appends what the server says about its progress to the turn's feed, up to a limit. */
function progressOf({ toolCallId, appendEvent }: ToolCall): NonNullable<McpCallOptions['onProgress']> {
  let events = 0;
  return ({ progress, total, message }) => {
    events += 1;
    if (events > PROGRESS_MAX) return;
    const more = {
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message: message.slice(0, PROGRESS_LENGTH) }),
    };
    // A run that cannot write any more ends by itself.
    void appendEvent({ type: 'tool-progress', toolCallId, progress, ...more }).catch(() => undefined);
  };
}

/** Appends what the server logs to the turn's feed, up to a limit. It is for the client of the call, not for operators. */
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
    // All are read before the first is asked: the person should not answer in vain.
    const read = entries.map(([key, request]) => [key, questionIn(request, server)] as const);
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
    if (error instanceof QuestionRefused) return refusedRound(error);
    if (error instanceof ClientRefused)
      return { type: 'refused', message: `The client gave no result. ${error.message}` };
    if (error instanceof TooManyQuestions)
      return { type: 'refused', message: 'The server asked the user too many questions.' };
    throw error;
  }
}

function questionIn(request: unknown, { modes }: McpServerRef): ServerRequest {
  const method = isRecord(request) ? request.method : undefined;
  if (isRecord(request) && typeof method === 'string' && modes !== undefined && isAskable(method, modes))
    return readRequest(method, request.params, modes);
  throw new QuestionRefused('The server asks for something that was not declared.', capabilityFor(method));
}

/** A round that cannot be answered, with what a client must declare for it. */
function refusedRound({ message, requires }: QuestionRefused): McpFailure {
  const data = { requiredCapabilities: requires };
  const refusal = { code: ProtocolErrorCode.MissingRequiredClientCapability, message, data };
  return { type: 'input_required', message, ...(requires !== undefined && { refusal }) };
}

/** The server only asks to be called again. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

function lost(): McpFailure {
  return {
    type: 'refused',
    message: 'The questions of the server can no longer be read on this pod. Nothing was done.',
  };
}

/** The arguments that a model gave to a call. */
export function argumentsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
}

import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { isParleyError } from '@parley/shared/domain/errors';
import { type FeedPosition, parseReaderPosition } from '@parley/shared/domain/events';
import { LOG_LEVELS, type LogLevel } from '@parley/shared/domain/runs/turn-events';
import type { Caller } from '@parley/shared/elicitations/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import { TICK, withTicks } from '@parley/shared/elicitations/ticks';
import { type Frame, framesOf } from '../../../http/sse.ts';
import type { FollowedEvent } from '../../../turns/follow.ts';
import { jsonLine } from '../../../turns/plain.ts';
import type { Shows } from '../capabilities.ts';
import type { AnswerPage } from '../deps.ts';
import { notification, resultMessage } from '../json-rpc.ts';
import { type CallKind, createCallOutput } from '../outcome.ts';
import {
  createProgress,
  progressMessage,
  type WaitingQuestion,
  WORKING,
  waitingMessage,
} from '../progress.ts';
import { elicitParamsOf, MCP_SURFACE } from '../questions.ts';
import { type Misfit, type Misfits, questionRequestId } from './misfits.ts';
import { formatPosition, type StreamRequest } from './position.ts';

export interface CallStream {
  readonly caller: Caller & { readonly kind: 'user' };
  readonly request: StreamRequest;
  /** How long ago the request came, in ms. */
  readonly ageMs: number;
  /** The last event of the feed that the client has; nothing at the start of the stream. */
  readonly after?: FeedPosition | undefined;
  readonly kind: CallKind;
  readonly shows: Shows;
  /** The least severe level of the log messages that the client gets. */
  readonly logLevel: LogLevel;
  /** True when events come that happened before the reader came: questions that have ended are then left out. */
  readonly isReplay: boolean;
  readonly progressMs: number;
  readonly answerPage: AnswerPage | undefined;
  /** Called once the result was written. */
  readonly onFetched: () => Promise<void>;
}

export interface CallFramesDeps {
  readonly engine: Pick<Engine, 'read'>;
  readonly misfits: Pick<Misfits, 'find'>;
}

/** A question of the stream. `count`: after so many answers that did not fit it was asked last. */
interface StreamedQuestion extends WaitingQuestion {
  readonly count: number;
}

// Of looks for answers that did not fit, while a form is open: another pod may have received them.
const AGAIN_MS = 2_000;

type QuestionEvent = Extract<FollowedEvent, { type: 'question' }>;

/**
 * The stream of one `tools/call`: an event to resume after, the call's questions and their ends, progress, and the result.
 * Ends with the result; in any other case the connection is cut, and the client continues on any pod.
 */
export async function* callFrames(
  deps: CallFramesDeps,
  stream: CallStream,
  events: AsyncIterator<FollowedEvent, unknown>,
): AsyncGenerator<Frame, 'end' | 'cut'> {
  const { request, after, progressMs, onFetched } = stream;
  const messages = createMessages(deps, stream);
  let lastId = formatPosition(request, after);
  yield { id: lastId, text: '' };
  let progressAt = performance.now() + progressMs;
  for await (const event of withTicks(events, messages.tickMs)) {
    if (event === TICK) {
      yield* (await messages.again()).map((text) => ({ text }));
      if (performance.now() < progressAt) continue;
      progressAt = performance.now() + progressMs;
      yield* messages.whileWaiting().map((text) => ({ text }));
      continue;
    }
    progressAt = performance.now() + progressMs;
    const { texts, isOver } = await messages.take(event);
    const id =
      'id' in event && !isSuperseded(event) ? formatPosition(request, parseReaderPosition(event.id)) : lastId;
    yield* framesOf(texts, id, lastId);
    if (texts.length > 0) lastId = id;
    if (!isOver) continue;
    await onFetched();
    return 'end';
  }
  return 'cut';
}

/** The messages of a call, each as a line of JSON. */
function createMessages(deps: CallFramesDeps, stream: CallStream) {
  const { request } = stream;
  const output = createCallOutput(stream.kind);
  const questions = createQuestions(deps, stream);
  const progress = createProgress(request.progressToken, stream.ageMs);

  function progressTexts(message: string): string[] {
    const next = progress.next(message);
    return next === undefined ? [] : [jsonLine(next)];
  }

  function progressOfEvent(event: FollowedEvent): string[] {
    const message = 'isKnown' in event && event.isKnown ? undefined : progressMessage(event);
    return message === undefined ? [] : progressTexts(message);
  }

  /** What the call's server logs. */
  function logged(event: FollowedEvent): string[] {
    if (event.type !== 'turn' || event.event.type !== 'tool-log' || event.isKnown) return [];
    const { level, logger, data } = event.event;
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(stream.logLevel)) return [];
    const params = { level, ...(logger !== undefined && { logger }), data };
    return [jsonLine(notification('notifications/message', params))];
  }

  return {
    tickMs: () => (questions.forms().length > 0 ? Math.min(AGAIN_MS, stream.progressMs) : stream.progressMs),
    /** Asks again what was answered with something that does not fit. */
    again: async () => (await questions.again()).map(jsonLine),
    whileWaiting() {
      const open = questions.open();
      return progressTexts(open.length > 0 ? waitingMessage(open, stream.answerPage) : WORKING);
    },
    async take(
      event: FollowedEvent,
    ): Promise<{ readonly texts: readonly string[]; readonly isOver: boolean }> {
      if (event.type === 'lost' || event.type === 'stale') questions.restart();
      const end = output.take(event);
      const asked = event.type === 'question' ? await questions.messages(event) : [];
      const texts = [
        ...progressOfEvent(event),
        ...logged(event),
        ...asked.map(jsonLine),
        ...(end === undefined ? [] : [jsonLine(resultMessage(request.id, end.result))]),
      ];
      return { texts, isOver: end !== undefined };
    },
  };
}

function isSuperseded(event: FollowedEvent): boolean {
  return event.type === 'question' && event.isSuperseded;
}

/** The questions of a call, as its client knows them. */
function createQuestions({ engine, misfits }: CallFramesDeps, { caller, shows, isReplay }: CallStream) {
  const open = new Map<string, StreamedQuestion>();
  const opened = new Set<string>();
  let replays = isReplay;

  async function isOver(id: string): Promise<boolean> {
    try {
      const { row } = await engine.read(caller, id);
      return isTerminal(row.status);
    } catch (error) {
      if (isParleyError(error) && error.code === 'not_found') return true;
      throw error;
    }
  }

  async function ask(elicitation: Elicitation, isKnown: boolean): Promise<object[]> {
    const { elicitationId: id, mode } = elicitation;
    if (open.has(id) || !shows[mode]) return [];
    if (!isKnown && replays && (await isOver(id))) return [];
    open.set(id, { question: elicitation, seenAt: performance.now(), count: 0 });
    return isKnown ? [] : [requestOf(elicitation)];
  }

  const forms = () => [...open.values()].filter(({ question: { mode } }) => mode === 'form');

  async function askAgain(asked: StreamedQuestion): Promise<object[]> {
    const { question } = asked;
    const misfit = await misfits.find(caller, question.elicitationId);
    if (misfit === undefined || misfit.count === asked.count) return [];
    open.set(question.elicitationId, { ...asked, count: misfit.count });
    return [requestOf(question, misfit)];
  }

  function end(elicitation: Elicitation, isKnown: boolean): object[] {
    const { elicitationId: id, mode, status, completion, settledBy } = elicitation;
    const { count = 0 } = open.get(id) ?? {};
    if (!open.delete(id) || isKnown) return [];
    const requestId = questionRequestId(id, { count });
    const isAnswered = settledBy?.surface === MCP_SURFACE || opened.has(id);
    const isComplete = mode === 'url' && status === 'accepted' && completion === 'server';
    return [
      ...(isAnswered
        ? []
        : [notification('notifications/cancelled', { requestId, reason: reasonOf(status) })]),
      ...(isComplete ? [notification('notifications/elicitation/complete', { elicitationId: id })] : []),
    ];
  }

  return {
    open: () => [...open.values()],
    forms,
    again: async () => (await Promise.all(forms().map(askAgain))).flat(),
    async messages({ change, isKnown, ...event }: QuestionEvent): Promise<object[]> {
      const { elicitation } = event;
      if (change === 'elicitation-request') return ask(elicitation, isKnown);
      if (change === 'elicitation-resolved') return end(elicitation, isKnown);
      if (elicitation.status === 'opened') opened.add(elicitation.elicitationId);
      return [];
    },
    /** The feed was lost: everything comes again. */
    restart: () => {
      replays = true;
    },
  };
}

function requestOf(question: Elicitation, misfit?: Misfit): object {
  const id = questionRequestId(question.elicitationId, misfit ?? { count: 0 });
  const { message, ...params } = elicitParamsOf(question, { namesUrl: true });
  const text = misfit === undefined ? message : `${message}\n\n${misfit.reason}`;
  return { jsonrpc: '2.0', id, method: 'elicitation/create', params: { ...params, message: text } };
}

function reasonOf(status: Elicitation['status']): string {
  return status === 'expired'
    ? 'The time for an answer is over.'
    : `The question was ${status} in another place.`;
}

/** The stream of one `tools/call` in a session. Beginning and resuming it is in `tool-call.ts`. */

import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { type FeedPosition, parseReaderPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import { TICK, withTicks } from '@parley/shared/async/ticks';
import { WakeSignal } from '@parley/shared/async/wake-signal';
import { type Caller, unlessMissing } from '@parley/shared/domain/caller';
import { LOG_LEVELS, type LogLevel } from '@parley/shared/domain/runs/turn-events';
import type { ClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import type { Engine } from '@parley/shared/elicitations/engine';
import { type Frame, framesOf } from '../../../http/sse.ts';
import type { WholeResult } from '../../../turns/call-result.ts';
import type { FollowedEvent } from '../../../turns/follow.ts';
import { jsonLine } from '../../../turns/plain.ts';
import type { Shows } from '../capabilities.ts';
import type { AnswerPage } from '../deps.ts';
import { notification } from '../json-rpc.ts';
import { type CallKind, createCallOutput, responseOf, toldAs } from '../outcome.ts';
import {
  createProgress,
  progressMessage,
  type WaitingQuestion,
  WORKING,
  waitingMessage,
} from '../progress.ts';
import { elicitParamsOf, MCP_SURFACE } from '../questions.ts';
import { type CallWaits, type ElsewhereOpen, isShown } from '../waiting/waits.ts';
import { createClientMessages } from './client-messages.ts';
import { type Misfit, type Misfits, questionRequestId } from './misfits.ts';
import { formatPosition, type StreamRequest } from './position.ts';

interface CallStream {
  readonly caller: Caller & { readonly kind: 'user' };
  readonly run: StreamRef;
  readonly request: StreamRequest;
  /** How long ago the request arrived, in ms. */
  readonly ageMs: number;
  /** The last event of the feed that the client has; undefined at the start of the stream. */
  readonly after?: FeedPosition | undefined;
  readonly kind: CallKind;
  /** When the call ended, in ms since 1970, if its client may have forgotten it since. */
  readonly endedAt?: number | undefined;
  readonly shows: Shows;
  /** The lowest severity of log messages that the client gets. */
  readonly logLevel: LogLevel;
  /** True if events from before the reader came are sent. Questions that have already ended are then omitted. */
  readonly isReplay: boolean;
  readonly progressMs: number;
  readonly answerPage: AnswerPage | undefined;
  readonly waits: CallWaits;
  /** Makes the result that replaces the tool's if the person acts elsewhere. */
  readonly tell: (open: ElsewhereOpen) => Promise<WholeResult>;
  /** Called once the result has been written. */
  readonly onFetched: () => Promise<void>;
}

interface CallFramesDeps {
  readonly engine: Pick<Engine, 'read'>;
  readonly misfits: Pick<Misfits, 'find' | 'follow'>;
  readonly clientRequests: Pick<ClientRequests, 'isOpen'>;
}

type QuestionEvent = Extract<FollowedEvent, { type: 'question' }>;

/**
 * The stream of one `tools/call`: an event from which to resume, the call's questions and their ends, progress, and the result
 * or the text about where the person acts. It ends after that. In any other case the connection is cut, and the client
 * continues on any pod.
 */
export async function* callFrames(
  deps: CallFramesDeps,
  stream: CallStream,
  events: AsyncIterator<FollowedEvent, unknown>,
): AsyncGenerator<Frame, 'end' | 'cut'> {
  const { after, progressMs, onFetched, waits } = stream;
  const messages = createMessages(deps, stream);
  const wake = new WakeSignal(undefined);
  const unfollow = deps.misfits.follow(stream.run, (id) => {
    messages.onMisfit(id);
    wake.notify();
  });
  let last: FeedPosition | undefined = after;
  const idAt = (place: FeedPosition | undefined) => formatPosition(messages.request(), place);
  async function* again(): AsyncGenerator<Frame> {
    const before = idAt(last);
    const texts = await messages.again();
    yield* framesOf(texts, idAt(last), before);
  }

  yield { id: idAt(last), text: '' };
  let progressAt = performance.now() + progressMs;
  const tickMs = () => {
    const next = Math.min(progressAt, waits.elsewhere()?.at ?? progressAt);
    return Math.max(1, next - performance.now());
  };
  try {
    for await (const event of withTicks(events, tickMs, wake)) {
      if (event === TICK) {
        yield* again();
        const elsewhere = waits.elsewhere();
        if (elsewhere !== undefined && elsewhere.at <= performance.now()) {
          const result = await stream.tell(elsewhere.open);
          yield* framesOf([messages.resultOf(result)], idAt(last), idAt(last));
          return 'end';
        }
        if (performance.now() < progressAt) continue;
        progressAt = performance.now() + progressMs;
        yield* messages.whileWaiting().map((text) => ({ text }));
        continue;
      }
      progressAt = performance.now() + progressMs;
      const before = idAt(last);
      waits.take(event);
      const { texts, isOver } = await messages.take(event);
      const place = 'id' in event && !isSuperseded(event) ? parseReaderPosition(event.id) : last;
      yield* framesOf(texts, idAt(place), before);
      if (texts.length > 0) last = place;
      if (isOver) {
        await onFetched();
        return 'end';
      }
      yield* again();
    }
    return 'cut';
  } finally {
    unfollow();
  }
}

/** The messages of a call, each as a line of JSON. */
function createMessages(deps: CallFramesDeps, stream: CallStream) {
  const { request } = stream;
  const output = createCallOutput(stream.kind, stream.endedAt);
  const questions = createQuestions(deps, stream);
  const requested = createClientMessages(deps, stream);
  const progress = createProgress(request.progressToken, stream.ageMs);

  function progressTexts(message: string): string[] {
    const next = progress.next(message);
    return next === undefined ? [] : [jsonLine(next)];
  }

  function progressOfEvent(event: FollowedEvent): string[] {
    const message = 'isKnown' in event && event.isKnown ? undefined : progressMessage(event);
    return message === undefined ? [] : progressTexts(message);
  }

  /** The log messages of the call's server. */
  function logged(event: FollowedEvent): string[] {
    if (event.type !== 'turn' || event.event.type !== 'tool-log' || event.isKnown) return [];
    const { level, logger, data } = event.event;
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(stream.logLevel)) return [];
    const params = { level, ...(logger !== undefined && { logger }), data };
    return [jsonLine(notification('notifications/message', params))];
  }

  const resultOf = (result: WholeResult) => jsonLine(responseOf(toldAs(stream.kind, result), request.id));

  return {
    onMisfit: questions.onMisfit,
    resultOf,
    /** The request, and how often questions were asked again. */
    request: () => ({ ...request, again: questions.again() }),
    /** Asks those questions again whose answers did not fit. */
    again: async () => (await questions.askAgain()).map(jsonLine),
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
        ...[...asked, ...(await requested(event))].map(jsonLine),
        ...(end === undefined ? [] : [jsonLine(responseOf(end, request.id))]),
      ];
      return { texts, isOver: end !== undefined };
    },
  };
}

function isSuperseded(event: FollowedEvent): boolean {
  return event.type === 'question' && event.isSuperseded;
}

/** The questions of a call that its client knows. */
function createQuestions(
  { engine, misfits }: CallFramesDeps,
  { caller, shows, isReplay, request }: CallStream,
) {
  const open = new Map<string, WaitingQuestion>();
  /** For each question: how many answers had not fit when it was last asked. */
  const counts = new Map(Object.entries(request.again ?? {}));
  const due = new Set<string>();
  const opened = new Set<string>();
  let replays = isReplay;

  async function isOver(id: string): Promise<boolean> {
    const found = await unlessMissing(engine.read(caller, id));
    return found === undefined || isTerminal(found.row.status);
  }

  async function ask(elicitation: Elicitation, isKnown: boolean): Promise<object[]> {
    const { elicitationId: id, mode } = elicitation;
    if (open.has(id) || !isShown(elicitation, shows)) return [];
    if (!isKnown && replays && (await isOver(id))) return [];
    open.set(id, { question: elicitation, seenAt: performance.now() });
    if (isKnown) {
      due.add(id);
      return [];
    }
    const misfit = mode === 'form' ? await misfits.find(caller, id) : undefined;
    if (misfit === undefined) counts.delete(id);
    else counts.set(id, misfit.count);
    return [requestOf(elicitation, misfit)];
  }

  async function askAgain(id: string): Promise<object[]> {
    const { question } = open.get(id) ?? {};
    if (question?.mode !== 'form') return [];
    const misfit = await misfits.find(caller, id);
    if (misfit === undefined || misfit.count === counts.get(id) || (await isOver(id))) return [];
    counts.set(id, misfit.count);
    return [requestOf(question, misfit)];
  }

  function end(elicitation: Elicitation, isKnown: boolean): object[] {
    const { elicitationId: id, mode, status, completion, settledBy } = elicitation;
    const count = counts.get(id) ?? 0;
    counts.delete(id);
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
    again: () => Object.fromEntries(counts),
    /** Reports an answer that did not fit its question. Without the id, it may be any question. */
    onMisfit(id?: string) {
      for (const one of id === undefined ? open.keys() : [id]) due.add(one);
    },
    /** Asks those questions again whose answers did not fit. */
    async askAgain(): Promise<object[]> {
      const ids = [...due];
      due.clear();
      return (await Promise.all(ids.map(askAgain))).flat();
    },
    async messages({ change, isKnown, ...event }: QuestionEvent): Promise<object[]> {
      const { elicitation } = event;
      if (change === 'elicitation-request') return ask(elicitation, isKnown);
      if (change === 'elicitation-resolved') return end(elicitation, isKnown);
      if (elicitation.status === 'opened') opened.add(elicitation.elicitationId);
      return [];
    },
    /** Reports that the feed was lost, so that everything is sent again. */
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

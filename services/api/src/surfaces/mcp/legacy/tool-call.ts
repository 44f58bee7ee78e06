/** Begins, streams and resumes the tool calls of a session. The events of a stream are in `stream.ts`. */

import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { LogLevel } from '@parley/shared/domain/runs/turn-events';
import { inStreamPlace, type StreamPlace } from '../../../http/limits/stream-places.ts';
import { userOf } from '../../../http/reply.ts';
import { json, type Reply, type RouteCall } from '../../../http/route.ts';
import { followTurn } from '../../../turns/follow.ts';
import { readReplayFacts } from '../../../turns/replay.ts';
import { podDraining } from '../../../turns/start.ts';
import { type RequestName, textOfRequest } from '../call-names.ts';
import type { Calls, IsOpen, StartedCall } from '../calls.ts';
import { type Shows, supportOf } from '../capabilities.ts';
import type { McpDeps } from '../deps.ts';
import { errorMessage, errorReply, RPC } from '../json-rpc.ts';
import { responseOf, toldAs } from '../outcome.ts';
import { elicitParamsOf } from '../questions.ts';
import { followRound, seenIn } from '../rounds.ts';
import { refuseTaskOnly } from '../tasks/extension.ts';
import { toldResult, toldUpTo } from '../waiting/told.ts';
import { createWaits } from '../waiting/waits.ts';
import type { ToolCallMessage } from './messages.ts';
import type { Misfits } from './misfits.ts';
import type { StreamPosition, StreamRequest } from './position.ts';
import { callFrames } from './stream.ts';

export interface LegacyDeps extends McpDeps {
  readonly calls: Calls;
  readonly misfits: Misfits;
}

/** A session that a request names. */
export interface RequestSession {
  readonly id: string;
  readonly shows: Shows;
  readonly logLevel: () => Promise<LogLevel>;
  readonly isOpen: IsOpen;
}

/** Begins a call and streams it. If the client disconnects, the call continues. */
export async function streamToolCall(
  deps: LegacyDeps,
  call: RouteCall,
  session: RequestSession,
  message: ToolCallMessage,
): Promise<Reply> {
  const name = { sessionId: session.id, id: message.id };
  return inCallStream(deps, call, { name, returns: false }, async (place) => {
    const { started, at } = await begin(deps, call, session, message);
    const progressToken = message.params._meta?.progressToken;
    const request = { id: message.id, at, ...(progressToken !== undefined && { progressToken }) };
    const tool = session.shows.apps ? message.params.name : undefined;
    return framesReply(deps, call, place, { session, started, request, tool });
  });
}

/** Continues the stream of a call after an event, on any pod. Undefined if the call is no longer stored. */
export async function resumeToolCall(
  deps: LegacyDeps,
  call: RouteCall,
  session: RequestSession,
  { request, after }: StreamPosition,
): Promise<Reply | undefined> {
  const name = { sessionId: session.id, id: request.id };
  const started = await deps.calls.find(userOf(call.caller), name);
  if (started === undefined) return undefined;
  return inCallStream(deps, call, { name, returns: true }, async (place) => {
    await deps.calls.follow(started, session.isOpen);
    return framesReply(deps, call, place, { session, started, request, after });
  });
}

/**
 * Begins a call and waits for its result, for a client that accepts no stream. Such a client can be shown a url only through an
 * error. The wait takes one of the user's stream places, because it may last as long as a stream.
 */
export async function awaitToolCall(
  deps: LegacyDeps,
  call: RouteCall,
  session: RequestSession,
  message: ToolCallMessage,
): Promise<Reply> {
  const name = { sessionId: session.id, id: message.id };
  return inCallStream(deps, call, { name, returns: false }, async ({ signal, release }) => {
    try {
      return await awaitResult(deps, call, { session, message, signal });
    } finally {
      release();
    }
  });
}

interface AwaitedCall {
  readonly session: RequestSession;
  readonly message: ToolCallMessage;
  readonly signal: AbortSignal;
}

async function awaitResult(
  deps: LegacyDeps,
  call: RouteCall,
  { session, message, signal }: AwaitedCall,
): Promise<Reply> {
  const shows = shownInReply(session.shows);
  const { started, at } = await begin(deps, call, { ...session, shows }, message);
  const came = { at, here: performance.now() };
  const tool = shows.apps ? message.params.name : undefined;
  const options = { signal, waitMs: deps.roundMs, shows, tool, came, onProgress: () => undefined };
  for (let isRepeat = started.isRepeat; ; isRepeat = true) {
    const round = await followRound(deps, { ...started, isRepeat }, options);
    if (signal.aborted) throw podDraining();
    if (round.type === 'open') continue;
    if (round.type === 'gone') throw podDraining();
    if (round.type === 'asks') return urlsReply(message, round.questions);
    if (round.type === 'result') await deps.calls.release(started);
    const end = round.type === 'told' ? toldAs(started.kind, round.result) : round;
    return json(200, responseOf(end, message.id));
  }
}

/** The capabilities of a client that accepts no stream: no requests can be sent to it. */
export function shownInReply(shows: Shows): Shows {
  return { ...shows, form: false, services: undefined };
}

function urlsReply({ id }: ToolCallMessage, questions: readonly Elicitation[]): Reply {
  const elicitations = questions.map((question) => elicitParamsOf(question, { namesUrl: true }));
  const error = {
    code: RPC.urlElicitationRequired,
    message: 'Open these pages first, then call again.',
    data: { elicitations },
  };
  return json(200, errorMessage(error, id));
}

/** Begins a call. `at` is the time before that on the records' clock, so everything that the call asks is later. */
async function begin(
  { calls, records }: LegacyDeps,
  call: RouteCall,
  { id: sessionId, shows, isOpen }: RequestSession,
  { id, params: { name, arguments: args }, read }: ToolCallMessage,
): Promise<{ readonly started: StartedCall; readonly at: number }> {
  await call.admitted;
  if (call.draining) throw podDraining();
  const support = supportOf(shows);
  const caller = userOf(call.caller);
  const at = await records.now(caller);
  const started = await calls.begin({
    signal: call.signal,
    caller,
    name,
    arguments: args,
    read,
    support,
    check: refuseTaskOnly,
    clientId: call.clientId,
    // If the client shows nothing, no request waits until its person has answered, so the turn may be detached.
    delivery: shows.form || shows.url || shows.services !== undefined ? 'hold' : 'detach',
    request: { sessionId, id, isOpen },
  });
  return { started, at };
}

function inCallStream(
  { limits }: LegacyDeps,
  call: RouteCall,
  { name, returns }: { readonly name: RequestName; readonly returns: boolean },
  open: (place: StreamPlace) => Promise<Reply>,
): Promise<Reply> {
  return inStreamPlace(limits, call, { stream: `mcp/${textOfRequest(name)}`, returns }, open);
}

interface StreamedCall {
  readonly session: RequestSession;
  readonly started: StartedCall;
  readonly request: StreamRequest;
  /** The tool, if the client shows the card of the call and the request names the tool. */
  readonly tool?: string | undefined;
  readonly after?: StreamPosition['after'];
}

async function framesReply(
  deps: LegacyDeps,
  { caller }: RouteCall,
  { signal, release }: StreamPlace,
  { session, started, request, tool, after }: StreamedCall,
): Promise<Reply> {
  const { run, kind, isRepeat, endedAt } = started;
  const facts = isRepeat ? await readReplayFacts(deps, run, after) : undefined;
  if (after !== undefined && facts?.detachment === undefined) {
    release();
    return errorReply(400, { code: RPC.transport, message: 'This stream is no longer stored.' });
  }
  const ageMs = (await deps.records.now(run)) - request.at;
  const { shows } = session;
  const waits = createWaits({
    shows,
    until: facts?.detachment?.until,
    came: { at: request.at, here: performance.now() - ageMs },
    toldUpTo: isRepeat ? await deps.calls.toldUpTo(started) : undefined,
    againMs: deps.againMs,
  });
  const events = await followTurn(deps, run, { signal, facts, after, onAsked: seenIn(deps, run) });
  const frames = callFrames(
    deps,
    {
      caller: userOf(caller),
      run,
      request,
      ageMs,
      after,
      kind,
      endedAt,
      shows,
      logLevel: await session.logLevel(),
      isReplay: isRepeat,
      progressMs: deps.progressMs,
      answerPage: deps.answerPage,
      waits,
      async tell(open) {
        await deps.calls.told(started, toldUpTo(open));
        return toldResult(deps, open, tool);
      },
      onFetched: () => deps.calls.release(started),
    },
    events,
  );
  return {
    type: 'events',
    headers: SSE_HEADERS,
    onExpiry: () => [],
    events: released(frames, { signal, release }),
  };
}

const SSE_HEADERS = { 'content-type': 'text/event-stream' };

/** Releases the place when the stream ends. An interrupted stream is cut. */
async function* released<Item>(
  items: AsyncGenerator<Item, 'end' | 'cut'>,
  { signal, release }: Pick<StreamPlace, 'signal' | 'release'>,
): AsyncGenerator<Item, 'end' | 'cut'> {
  try {
    return yield* items;
  } catch (error) {
    if (signal.aborted) return 'cut';
    throw error;
  } finally {
    release();
  }
}

/** The routes of the AG-UI surface. The encoding of a run is in `encoder.ts`, answers are in `resume.ts`. */

import { ParleyError, QUOTA_CODES } from '@parley/core/domain/errors';
import { messageIdOf, type StreamRef } from '@parley/core/domain/ids';
import { TOO_MANY_HOPS } from '@parley/shared/domain/a2a/hops';
import type { Caller } from '@parley/shared/domain/caller';
import type { Support } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import { inStreamPlace } from '../../http/limits/stream-places.ts';
import {
  bearer,
  json,
  jsonBody,
  type Reply,
  type Route,
  type RouteCall,
  route,
  type Surface,
} from '../../http/route.ts';
import { readTurnHeaders, TURN_BROWSER_HEADERS, turnHeaders } from '../../http/turn-headers.ts';
import { encodeTurn } from '../../turns/encoder.ts';
import { type FollowTurnOptions, followTurn } from '../../turns/follow.ts';
import { actingCallerOf, USER_HEADER } from '../../turns/principal.ts';
import { readReplayFacts } from '../../turns/replay.ts';
import type { Turns } from '../../turns/turns.ts';
import { Capabilities, capabilitiesOf } from './capabilities.ts';
import { AG_UI_ON_CUT, AG_UI_ON_EXPIRY, type AgUiRun, createAgUiEncoder, openingOf } from './encoder.ts';
import { agUiRefusal, endedRun, startRun } from './errors.ts';
import { CAPABILITIES_EXAMPLE, CONNECT_EXAMPLE, RUN_EXAMPLE } from './examples.ts';
import { ConnectQuery, hopsOfRun, keyOfRun, RunInput, threadOf } from './input.ts';
import { resumeTurn } from './resume.ts';
import { readThread } from './thread.ts';

interface AgUiDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Turns;
  /** How many deployments in a row may have delegated a run. */
  readonly hopsMax: number;
  /** Version of this service, which the capabilities contain. */
  readonly version: string;
}

const PATH = '/run/ag-ui/:agent';
const HEADERS = { 'Parley-User': 'With a service key: the person for whom it speaks, percent-encoded.' };
const EVENTS = { 200: { description: 'Server-sent events of AG-UI', events: true } } as const;

/**
 * AG-UI clients show every kind of question. Their answers pass through other programs, so sensitive answers are not given in
 * them.
 */
const SUPPORT: Support = { form: true, url: true, sensitiveForms: false };
/** Only the person may answer, so a service key gets the address of the hosted page. */
const SUPPORT_OF_KEY: Support = { form: false, url: true };

/** AG-UI 1.0 over server-sent events: the same turns as in the chat API, with one run up to each interrupt. */
export function agUiRoutes(deps: AgUiDeps): Surface {
  return {
    routes: [runRoute(deps), connectRoute(deps), capabilitiesRoute(deps)],
    browserHeaders: {
      request: [...TURN_BROWSER_HEADERS.request, USER_HEADER],
      response: TURN_BROWSER_HEADERS.response,
    },
  };
}

function runRoute(deps: AgUiDeps): Route {
  return route({
    method: 'POST',
    path: PATH,
    proof: bearer('user', 'act'),
    body: jsonBody(RunInput),
    docs: {
      group: 'AG-UI',
      summary: 'Run an agent by the Agent User Interaction Protocol',
      description:
        'The run ends when its turn ends or waits for the person; `resume` answers its interrupts. Errors are `RUN_ERROR`. See docs/ag-ui.md.',
      headers: HEADERS,
      example: RUN_EXAMPLE,
      replies: EVENTS,
      errors: [
        'not_found',
        'invalid_answer',
        'expired',
        'turn_running',
        'already_settled',
        'idempotency_mismatch',
        ...QUOTA_CODES,
        'pod_busy',
      ],
    },
    handle: (call) => ((call.body.resume ?? []).length > 0 ? resumedRun(deps, call) : newRun(deps, call)),
    refuse: agUiRefusal,
  });
}

type RunCall = RouteCall<undefined, RunInput>;

async function newRun(deps: AgUiDeps, call: RunCall): Promise<Reply> {
  const { caller, body, header, draining, admitted } = call;
  admitted.catch(() => undefined);
  const agent = agentOf(deps, call);
  const who = actingCallerOf(call);
  const thread = threadOf(who, body.threadId);
  const hops = hopsOfRun(body);
  if (hops > deps.hopsMax) throw new ParleyError('already_settled', TOO_MANY_HOPS);
  const reader = { stream: `chat/${thread.conversationId}`, returns: true };
  return inStreamPlace(deps.limits, call, reader, async (place) => {
    const { run } = await startRun(deps.turns, {
      caller: { kind: 'user', ...who.owner },
      conversationId: thread.conversationId,
      messages: body.messages,
      agent: agent.id,
      support: { ...supportOf(caller, header), ...(hops > 0 && { hops }) },
      delivery: 'detach',
      idempotencyKey: keyOfRun(thread, body.runId),
      draining,
      admitted,
    });
    const facts = run.isRepeat ? await readReplayFacts(deps, run) : undefined;
    return eventsReply(deps, call, { stream: run, facts, place, isRepeat: run.isRepeat }, runOf(body, run));
  });
}

async function resumedRun(deps: AgUiDeps, call: RunCall): Promise<Reply> {
  const { body } = call;
  call.admitted.catch(() => undefined);
  agentOf(deps, call);
  const thread = threadOf(actingCallerOf(call), body.threadId);
  const reader = { stream: `chat/${thread.conversationId}`, returns: true };
  return inStreamPlace(deps.limits, call, reader, async (place) => {
    const request = { call, thread, entries: body.resume ?? [], messages: body.messages };
    const { stream, after, notes } = await resumeTurn(deps, request);
    const facts = await readReplayFacts(deps, stream, after);
    const run = { ...runOf(body, stream), notes, isContinued: after !== undefined };
    return eventsReply(deps, call, { stream, facts, after, place }, run);
  });
}

function connectRoute(deps: AgUiDeps): Route {
  return route({
    method: 'GET',
    path: PATH,
    proof: bearer('user', 'act'),
    opensStream: true,
    query: ConnectQuery,
    docs: {
      group: 'AG-UI',
      summary: 'Connect to a thread',
      description:
        'On any pod: the messages of the thread, and the turn that runs or waits from its start. For a client that lost its connection or was reloaded.',
      headers: HEADERS,
      example: CONNECT_EXAMPLE,
      replies: EVENTS,
      errors: ['not_found'],
    },
    async handle(call) {
      const { query, admitted } = call;
      admitted.catch(() => undefined);
      agentOf(deps, call);
      const thread = threadOf(actingCallerOf(call), query.threadId);
      await admitted;
      const reader = { stream: `chat/${thread.conversationId}`, returns: true };
      return inStreamPlace(deps.limits, call, reader, async (place) => {
        const { messages, stream } = await readThread(deps.turns, thread);
        const { threadId, runId = stream?.streamRequestId ?? thread.conversationId } = query;
        const ids = { threadId, runId };
        const messageId = messageIdOf(stream?.streamRequestId ?? '');
        const run = {
          ...ids,
          messageId,
          base: messages,
          isReturning: true,
          knowsCancelled: knowsCancelled(query),
        };
        if (stream === undefined) {
          place.release();
          const end = { type: 'RUN_FINISHED', ...ids, outcome: { type: 'success' } } as const;
          return { type: 'events', resumable: false, events: endedRun(...openingOf(run), end) };
        }
        const facts = await readReplayFacts(deps, stream);
        return eventsReply(deps, call, { stream, facts, place }, run);
      });
    },
    refuse: agUiRefusal,
  });
}

function capabilitiesRoute(deps: AgUiDeps): Route {
  return route({
    method: 'GET',
    path: `${PATH}/capabilities`,
    proof: bearer('user', 'act'),
    docs: {
      group: 'AG-UI',
      summary: 'What an agent can do (AG-UI)',
      example: CAPABILITIES_EXAMPLE,
      replies: { 200: { description: '`AgentCapabilities` of AG-UI', schema: Capabilities } },
      errors: ['not_found'],
    },
    handle: async (call) => json(200, capabilitiesOf(agentOf(deps, call), deps.version)),
  });
}

/** The agent in the path, if the caller may begin turns with it. Throws `not_found`. */
function agentOf(
  { turns }: Pick<AgUiDeps, 'turns'>,
  { caller, params }: Pick<RouteCall, 'caller' | 'params'>,
) {
  const agent = turns.listAgents(caller).find(({ id }) => id === params.agent);
  if (agent === undefined) throw new ParleyError('not_found', 'No such agent, or it is not yours to use.');
  return agent;
}

function supportOf(caller: Caller, header: RouteCall['header']): Support {
  if (caller.kind === 'service') return SUPPORT_OF_KEY;
  if (header('x-supports-elicitation') === undefined) return SUPPORT;
  return readTurnHeaders({ caller, header }, true).support;
}

/** The run of a request. */
function runOf(body: RunInput, { streamRequestId }: StreamRef): AgUiRun {
  const { threadId, runId, messages: base } = body;
  const messageId = messageIdOf(streamRequestId);
  return { threadId, runId, messageId, base, knowsCancelled: knowsCancelled(body) };
}

/** False for clients that name no version, which are older than 1.0. */
function knowsCancelled({ protocolVersion }: Pick<RunInput, 'protocolVersion'>): boolean {
  return typeof protocolVersion === 'string';
}

interface FollowedTurn extends Pick<FollowTurnOptions, 'facts' | 'after'> {
  readonly stream: StreamRef;
  readonly place: { readonly signal: AbortSignal; readonly release: () => void };
  /** True if an earlier request with the same id began the turn. */
  readonly isRepeat?: boolean;
}

async function eventsReply(
  deps: AgUiDeps,
  { caller }: Pick<RouteCall, 'caller'>,
  { stream, facts, after, place, isRepeat = false }: FollowedTurn,
  run: AgUiRun,
): Promise<Reply> {
  // Only a person's own client counts: what a program receives, the person has not seen.
  const note = caller.kind === 'user' ? deps.turns.seenNotes(stream) : undefined;
  const onAsked = note && ((asked: Parameters<typeof note>[0]) => void note(asked));
  const events = await followTurn(deps, stream, { signal: place.signal, facts, after, onAsked });
  return {
    type: 'events',
    headers: turnHeaders({ conversationId: run.threadId, isRepeat }),
    onExpiry: () => AG_UI_ON_EXPIRY,
    onCut: AG_UI_ON_CUT,
    resumable: false,
    events: encodeTurn(events, createAgUiEncoder(run), place),
  };
}

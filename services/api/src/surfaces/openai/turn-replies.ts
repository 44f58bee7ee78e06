/** Begins a turn and replies in any of OpenAI's formats. The formats are in the files beside this one. */

import { randomBytes } from 'node:crypto';
import { ParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { CallLimits } from '../../http/limits/call-limits.ts';
import { inStreamPlace } from '../../http/limits/stream-places.ts';
import type { Reply, RouteCall } from '../../http/route.ts';
import { readTurnHeaders, turnHeaders, turnReader } from '../../http/turn-headers.ts';
import { startInChat } from '../../turns/approvals/message.ts';
import { encodeTurn } from '../../turns/encoder.ts';
import { type FollowTurnOptions, followTurn } from '../../turns/follow.ts';
import type { ChatMessage } from '../../turns/messages.ts';
import { readReplayFacts } from '../../turns/replay.ts';
import type { BegunTurn, Turns } from '../../turns/turns.ts';
import { readWholeTurn, type WholeTurn } from '../../turns/whole-turn.ts';
import { createOpenAiEncoder, OPENAI_EXPIRED, type OpenAiOptions } from './encoder.ts';
import type { OpenAiFormat } from './format.ts';

export interface OpenAiDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Turns;
  /** When the text of a step is sent. */
  readonly steps: OpenAiOptions['steps'];
}

/** A request for a turn, independent of OpenAI's formats. */
export interface OpenAiRequest {
  /** The model that the caller names, which is an agent. */
  readonly model: string;
  readonly conversationId: string | undefined;
  /** True if the conversation appears in no list and is deleted with its last turn. */
  readonly isOneShot: boolean;
  readonly messages: readonly ChatMessage[];
}

type TurnCall = Pick<RouteCall, 'caller' | 'header' | 'signal' | 'whenOver' | 'draining' | 'admitted'>;

export const NONCE_HEADER = 'x-parley-nonce';
const NONCE_BYTES = 16;

/** An agent with which a caller may begin turns. */
export type OpenAiModel = ReturnType<Turns['listAgents']>[number];

/** The agent that a caller names as the model. Throws `not_found` if the caller may not begin turns with such an agent. */
export function modelOf({ turns }: Pick<OpenAiDeps, 'turns'>, caller: Caller, id: string): OpenAiModel {
  const found = turns.listAgents(caller).find((agent) => agent.id === id);
  if (found === undefined)
    throw new ParleyError('not_found', `The model ${JSON.stringify(id)} does not exist.`);
  return found;
}

/** Begins the turn of a request, and streams it in a format. */
export function streamedReply(
  deps: OpenAiDeps,
  call: TurnCall,
  request: OpenAiRequest,
  formatOf: (run: BegunTurn, nonce: string | undefined) => OpenAiFormat,
): Promise<Reply> {
  const reader = turnReader(request.conversationId, call.header);
  return inStreamPlace(deps.limits, call, reader, async (place) => {
    const options = readTurnHeaders(call, true);
    const { run } = await start(deps, call, request, options);
    const nonce = options.support.form || options.support.url ? createNonce() : undefined;
    const facts = run.isRepeat ? await readReplayFacts(deps, run) : undefined;
    const format = formatOf(run, nonce);
    const detaches = options.delivery === 'detach';
    const encoder = createOpenAiEncoder({ nonce, detaches, steps: deps.steps }, format);
    // A client without the nonce gets no envelopes, so it shows neither questions nor approvals.
    const note = nonce === undefined ? undefined : deps.turns.seenNotes(run);
    const onAsked: FollowTurnOptions['onAsked'] = note && ((asked) => void note(asked));
    const events = await followTurn(deps, run, { signal: place.signal, facts, onAsked });
    return {
      type: 'events',
      headers: { ...turnHeaders(run), ...(nonce !== undefined && { [NONCE_HEADER]: nonce }) },
      events: encodeTurn(events, encoder, place),
      resumable: false,
      onExpiry: () => format.fail(OPENAI_EXPIRED.code, OPENAI_EXPIRED.message),
    };
  });
}

/** Begins the turn of a request, and waits for its end. Throws as `readWholeTurn` does. */
export async function wholeTurn(
  deps: OpenAiDeps,
  call: TurnCall,
  request: OpenAiRequest,
): Promise<{ readonly run: BegunTurn; readonly turn: WholeTurn }> {
  const started = await start(deps, call, request, readTurnHeaders(call, false));
  return { run: started.run, turn: await readWholeTurn(deps, started, call) };
}

async function start(
  deps: OpenAiDeps,
  call: TurnCall,
  { model, ...request }: OpenAiRequest,
  options: ReturnType<typeof readTurnHeaders>,
) {
  const { caller, draining, admitted } = call;
  await admitted;
  const { id: agent } = modelOf(deps, caller, model);
  return startInChat(deps, { caller, agent, ...request, ...options, draining, admitted }, call);
}

function createNonce(): string {
  return randomBytes(NONCE_BYTES).toString('base64url');
}

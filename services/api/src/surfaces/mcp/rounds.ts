/** Follows a call for the time of one request, until it asks, waits or ends. The reply is made in `modern/call.ts`. */

import type { Owner, StreamRef } from '@parley/core/domain/ids';
import { TICK, withTicks } from '@parley/shared/async/ticks';
import type { WholeResult } from '../../turns/call-result.ts';
import { type FollowedEvent, type FollowTurnOptions, followTurn } from '../../turns/follow.ts';
import { readReplayFacts } from '../../turns/replay.ts';
import type { Calls, StartedCall } from './calls.ts';
import type { McpDeps } from './deps.ts';
import { createCallOutput, type EndedCall } from './outcome.ts';
import { progressMessage, WAITING, WORKING } from './progress.ts';
import { toldResult, toldUpTo } from './waiting/told.ts';
import {
  type AskedOfClient,
  type CallWaits,
  type CallWaitsOptions,
  createWaits,
  type ShownModes,
} from './waiting/waits.ts';

/** The result of one request about its call. */
export type CallRound =
  | ({ readonly type: 'result' } & EndedCall)
  /** The client is asked to show questions, or to provide a service. None of these has been acted on yet. */
  | ({ readonly type: 'asks' } & AskedOfClient)
  /** The person acts elsewhere. The next equal call joins this one. */
  | { readonly type: 'told'; readonly result: WholeResult }
  /** The time of the request ended before anything else happened. */
  | { readonly type: 'open' }
  /** The call is no longer stored. */
  | { readonly type: 'gone' };

type RoundDeps = Pick<
  McpDeps,
  'engine' | 'turns' | 'clientRequests' | 'progressMs' | 'againMs' | 'answerPage' | 'connectBaseUrl' | 'card'
> & { readonly calls: Pick<Calls, 'told' | 'toldUpTo'> };

interface RoundOptions {
  /** The declared capabilities of the call's client. */
  readonly shows: ShownModes;
  /** The tool, if the client shows the card of the call. */
  readonly tool?: string | undefined;
  /** When the client requested the call. Questions after that time are new to this request. */
  readonly came: CallWaitsOptions['came'];
  readonly signal: AbortSignal;
  /** How long the request waits, in ms. */
  readonly waitMs: number;
  /** Called when something happens, and regularly in between. */
  readonly onProgress: (message: string) => void;
}

/** Follows a call for at most `waitMs`, until it has a result, asks its client, or waits for a person who acts elsewhere. */
export async function followRound(
  deps: RoundDeps,
  started: StartedCall,
  { signal, waitMs, onProgress, shows, tool, came }: RoundOptions,
): Promise<CallRound> {
  const { run, kind, isRepeat, endedAt } = started;
  const endsAt = performance.now() + waitMs;
  const facts = isRepeat ? await readReplayFacts(deps, run) : undefined;
  if (isRepeat && facts?.detachment === undefined) return { type: 'gone' };
  const leaving = new AbortController();
  const following = AbortSignal.any([signal, leaving.signal]);
  const output = createCallOutput(kind, endedAt);
  const waits = createWaits({
    shows,
    until: facts?.detachment?.until,
    came,
    toldUpTo: isRepeat ? await deps.calls.toldUpTo(started) : undefined,
    againMs: deps.againMs,
  });

  const take = (event: FollowedEvent) => {
    waits.take(event);
    return output.take(event);
  };
  const due = (now: number) => roundAt(deps, started, waits, { now, tool, isLeft: signal.aborted });
  const tickMs = () => Math.max(1, Math.min(nextAt(waits, deps.progressMs), endsAt) - performance.now());
  try {
    const events = await followTurn(deps, run, { signal: following, facts, onAsked: seenIn(deps, run) });
    for await (const event of withTicks(events, tickMs)) {
      const end = event === TICK ? undefined : take(event);
      if (end !== undefined) return { type: 'result', ...end };
      const found = await due(performance.now());
      if (found !== undefined) return found;
      const message = messageAt(event, waits);
      if (message !== undefined) onProgress(message);
      if (performance.now() >= endsAt) break;
    }
    return (await due(Number.POSITIVE_INFINITY)) ?? { type: 'open' };
  } catch (error) {
    if (signal.aborted) return { type: 'open' };
    throw error;
  } finally {
    leaving.abort();
  }
}

/** The time of the next tick of a round. */
function nextAt(waits: CallWaits, progressMs: number): number {
  const progressAt = performance.now() + progressMs;
  return Math.min(waits.asked()?.at ?? progressAt, waits.elsewhere()?.at ?? progressAt);
}

/** The progress message at an event or a tick, if there is one. */
function messageAt(event: FollowedEvent | typeof TICK, { isAsking }: CallWaits): string | undefined {
  if (event !== TICK) return progressMessage(event);
  return isAsking ? WAITING : WORKING;
}

/** What a call asks of its client now. A client that has disconnected is told nothing. */
async function roundAt(
  deps: RoundDeps,
  started: StartedCall,
  waits: CallWaits,
  {
    now,
    tool,
    isLeft,
  }: { readonly now: number; readonly tool: string | undefined; readonly isLeft: boolean },
): Promise<CallRound | undefined> {
  const asksAt = waits.asked()?.at;
  const asked =
    asksAt !== undefined && asksAt <= now ? await stillAsked(deps, started.run, waits) : undefined;
  if (asked !== undefined) return { type: 'asks', ...asked };
  const elsewhere = isLeft ? undefined : waits.elsewhere();
  if (elsewhere === undefined || elsewhere.at > now) return undefined;
  await deps.calls.told(started, toldUpTo(elsewhere.open));
  return { type: 'told', result: toldResult(deps, elsewhere.open, tool) };
}

/**
 * The questions and requests that are still open. A client's reply is stored before the feed shows it, because the call's pod
 * writes the event. Answers of people are different.
 */
async function stillAsked({ clientRequests }: RoundDeps, owner: Owner, waits: CallWaits) {
  for (const { requestId } of waits.asked()?.open.requests ?? [])
    if (!(await clientRequests.isOpen(owner, requestId))) waits.replied(requestId);
  return waits.asked()?.open;
}

/** Records what clients have seen: MCP clients show the questions that they declare, and no approvals. */
export function seenIn({ turns }: Pick<McpDeps, 'turns'>, run: StreamRef): FollowTurnOptions['onAsked'] {
  const note = turns.seenNotes(run);
  return (asked) => void ('elicitationId' in asked && note(asked));
}

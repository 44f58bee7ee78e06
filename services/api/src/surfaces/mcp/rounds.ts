import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { type FeedPosition, parseReaderPosition } from '@parley/shared/domain/events';
import type { Owner, StreamRef } from '@parley/shared/domain/ids';
import { TICK, withTicks } from '@parley/shared/elicitations/ticks';
import { type FollowedEvent, type FollowTurnOptions, followTurn } from '../../turns/follow.ts';
import { readReplayFacts } from '../../turns/replay.ts';
import type { StartedCall } from './calls.ts';
import type { McpDeps } from './deps.ts';
import { type ClientAsked, createOpenRequests } from './open-requests.ts';
import { type CallKind, createCallOutput, type EndedCall } from './outcome.ts';
import { progressMessage, WAITING, WORKING } from './progress.ts';

/** What one request learns of its call. */
export type CallRound =
  | ({ readonly type: 'result' } & EndedCall)
  /** The person is asked, or their client; nothing of it was acted on yet. */
  | {
      readonly type: 'asks';
      readonly questions: readonly Elicitation[];
      readonly requests: readonly ClientAsked[];
    }
  /** Neither, in the time of the request. */
  | { readonly type: 'open' }
  /** Nothing of the call is stored any more. */
  | { readonly type: 'gone' };

export interface RoundOptions {
  readonly signal: AbortSignal;
  /** How long the request waits, in ms. */
  readonly waitMs: number;
  /** Called when something happened, and regularly in between. */
  readonly onProgress: (message: string) => void;
}

// A run with several open questions asks them within this time. One that is detached says when it has asked all.
const QUIET_MS = 300;
// While earlier events are read.
const READING_MS = 3_000;

/** Follows a call until it has a result or asks its person, for at most `waitMs`. */
export async function followRound(
  deps: Pick<McpDeps, 'engine' | 'turns' | 'progressMs' | 'clientRequests'>,
  { run, kind, isRepeat }: StartedCall,
  { signal, waitMs, onProgress }: RoundOptions,
): Promise<CallRound> {
  const endsAt = performance.now() + waitMs;
  const facts = isRepeat ? await readReplayFacts(deps, run) : undefined;
  if (isRepeat && facts?.detachment === undefined) return { type: 'gone' };
  const leaving = new AbortController();
  const following = AbortSignal.any([signal, leaving.signal]);
  const round = createRound(kind, facts?.detachment?.until);
  const tickMs = () => {
    const pauseMs = round.pauseMs() ?? deps.progressMs;
    return Math.max(1, Math.min(pauseMs, endsAt - performance.now()));
  };
  try {
    const events = await followTurn(deps, run, { signal: following, facts, onAsked: seenIn(deps, run) });
    for await (const event of withTicks(events, tickMs)) {
      const end = await stillDue(deps, run, round, event === TICK ? round.asked() : round.take(event));
      if (end !== undefined) return end;
      const message = event === TICK ? round.state() : progressMessage(event);
      if (message !== undefined) onProgress(message);
      if (performance.now() >= endsAt) break;
    }
    return (await stillDue(deps, run, round, round.asked())) ?? { type: 'open' };
  } catch (error) {
    if (signal.aborted) return { type: 'open' };
    throw error;
  } finally {
    leaving.abort();
  }
}

/** What is still asked. A reply is stored before the feed says so, unlike an answer: the pod of the call writes the event. */
async function stillDue(
  { clientRequests }: Pick<McpDeps, 'clientRequests'>,
  owner: Owner,
  round: ReturnType<typeof createRound>,
  end: CallRound | undefined,
): Promise<CallRound | undefined> {
  if (end?.type !== 'asks') return end;
  for (const { requestId } of end.requests)
    if (!(await clientRequests.isOpen(owner, requestId))) round.replied(requestId);
  return round.asked();
}

/** Clients of MCP show the questions that they declare, and no approvals. */
export function seenIn({ turns }: Pick<McpDeps, 'turns'>, run: StreamRef): FollowTurnOptions['onAsked'] {
  const note = turns.seenNotes(run);
  return (asked) => void ('elicitationId' in asked && note(asked));
}

/** The state of a call as its events go by. `until` is the last event that was there when its reader came. */
function createRound(kind: CallKind, until: FeedPosition | undefined) {
  const output = createCallOutput(kind);
  const open = new Map<string, Elicitation>();
  let hasRead = until === undefined;
  const requests = createOpenRequests();
  const pending = () => [...open.values()].filter(({ status }) => status === 'pending');
  const isAsking = () => pending().length > 0 || requests.open().length > 0;

  function asked(): CallRound | undefined {
    return isAsking() ? { type: 'asks', questions: pending(), requests: requests.open() } : undefined;
  }

  function take(event: FollowedEvent): CallRound | undefined {
    if ('id' in event && until !== undefined) hasRead ||= isAtLeast(parseReaderPosition(event.id), until);
    const end = output.take(event);
    requests.take(event);
    if (event.type === 'lost') open.clear();
    if (event.type === 'question') {
      const { elicitation } = event;
      if (event.change === 'elicitation-resolved') open.delete(elicitation.elicitationId);
      else open.set(elicitation.elicitationId, elicitation);
    }
    if (end !== undefined) return { type: 'result', ...end };
    return waits(event) ? asked() : undefined;
  }

  return {
    take,
    asked,
    /** The client has replied to a request. */
    replied: requests.replied,
    state: () => (open.size > 0 || isAsking() ? WAITING : WORKING),
    /** How long the questions so far may be incomplete; undefined while there are none. */
    pauseMs: () => (!isAsking() ? undefined : hasRead ? QUIET_MS : READING_MS),
  };
}

/** True at the event after which all of the turn waits for its person. */
function waits(event: FollowedEvent): boolean {
  if ('isWaiting' in event && event.isWaiting) return true;
  return event.type === 'turn' && event.event.type === 'turn-detached';
}

function isAtLeast(position: FeedPosition | undefined, until: FeedPosition): boolean {
  return position !== undefined && (position.epoch !== until.epoch || position.seq >= until.seq);
}

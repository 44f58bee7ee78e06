/** Tracks what a call waits for, and when its client is asked or told. The texts are in `told.ts`. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { type FeedPosition, parseReaderPosition } from '@parley/core/domain/events';
import type { FollowedEvent } from '../../../turns/follow.ts';
import type { Shows } from '../capabilities.ts';
import type { ClientAsked } from '../open-requests.ts';
import { createOpenAsks } from './open-asks.ts';

/** Records for which a call waits and that its client cannot show: its person acts elsewhere. */
export interface ElsewhereOpen {
  readonly questions: readonly Elicitation[];
  readonly approvals: readonly Approval[];
}

/** Requests to the client for which a call waits. None of them has been acted on yet. */
export interface AskedOfClient {
  readonly questions: readonly Elicitation[];
  readonly requests: readonly ClientAsked[];
}

/** Tracks what a call waits for, from its events. Times are by `performance.now()`. */
export interface CallWaits {
  take(event: FollowedEvent): void;
  /** True while the person or the client is being asked. */
  readonly isAsking: boolean;
  /** What the client must show or do, and the time `at` from which it may be asked. */
  asked(): Due<AskedOfClient> | undefined;
  /** Records that the client has replied to a request. */
  replied(requestId: string): void;
  /**
   * What the client must be told, and the time `at` from which it may be told. Undefined while the client itself is asked,
   * because its answer may be all that is missing.
   */
  elsewhere(): Due<ElsewhereOpen> | undefined;
}

interface Due<Open> {
  readonly open: Open;
  readonly at: number;
}

/** The kinds of questions that a client shows. */
export type ShownModes = Pick<Shows, 'form' | 'url'>;

export interface CallWaitsOptions {
  /** The declared capabilities of the call's client. */
  readonly shows: ShownModes;
  /** The last event of the feed when the reader came. */
  readonly until: FeedPosition | undefined;
  /** When the client asked what the call waits for: in ms on the records' clock, and by `performance.now()`. */
  readonly came: { readonly at: number; readonly here: number };
  /** A client of the call was told about everything asked up to this time, on the records' clock. Absent: nothing was told. */
  readonly toldUpTo?: number | undefined;
  /** How long to wait for a question about which the client was already told, before the client is told again. */
  readonly againMs: number;
}

// A run with several open questions asks them within this time. A detached run reports when it has asked all of them.
const QUIET_MS = 300;
// The quiet time while earlier events are being read.
const READING_MS = 3_000;

export function createWaits({ shows, until, came, toldUpTo = 0, againMs }: CallWaitsOptions): CallWaits {
  const asks = createOpenAsks();
  const showsNothing = !shows.form && !shows.url;
  let hasRead = until === undefined;
  let changedAt = 0;
  let isComplete = false;

  /** The time from which the open questions are all that the run asks for now. */
  function completeAt(): number {
    if (isComplete) return 0;
    return changedAt + (hasRead ? QUIET_MS : READING_MS);
  }

  /** True for a question about which no client was told, or that is newer than this request. */
  function isNew({ createdAt }: Pick<Elicitation, 'createdAt'>): boolean {
    const at = Date.parse(createdAt);
    return at >= came.at || at > toldUpTo;
  }

  return {
    get isAsking() {
      return asks.questions.length + asks.requests.length > 0;
    },
    take(event) {
      if ('id' in event && until !== undefined) hasRead ||= isAtLeast(parseReaderPosition(event.id), until);
      isComplete = isWaitingAt(event);
      const isChange = asks.take(event);
      if (!hasRead || isChange) changedAt = performance.now();
    },
    asked() {
      const open = {
        questions: asks.questions.filter((one) => one.status === 'pending' && isShown(one, shows)),
        requests: asks.requests,
      };
      if (open.questions.length + open.requests.length === 0) return undefined;
      return { open, at: completeAt() };
    },
    replied: asks.replied,
    elsewhere() {
      const { questions, approvals, requests } = asks;
      if (requests.length > 0 || questions.some((one) => isShown(one, shows))) return undefined;
      const open = { questions, approvals: showsNothing ? approvals : [] };
      const acts = [...open.questions, ...open.approvals];
      if (acts.length === 0) return undefined;
      return { open, at: acts.some(isNew) ? completeAt() : Math.max(completeAt(), came.here + againMs) };
    },
  };
}

/** True for a question that the client shows. MCP forbids forms for sensitive answers. */
export function isShown(
  { mode, sensitive }: Pick<Elicitation, 'mode' | 'sensitive'>,
  shows: ShownModes,
): boolean {
  return shows[mode] && (mode === 'url' || sensitive !== true);
}

/** True at the event after which the whole turn waits for its person. */
function isWaitingAt(event: FollowedEvent): boolean {
  if ('isWaiting' in event && event.isWaiting) return true;
  return event.type === 'turn' && event.event.type === 'turn-detached';
}

function isAtLeast(position: FeedPosition | undefined, until: FeedPosition): boolean {
  return position !== undefined && (position.epoch !== until.epoch || position.seq >= until.seq);
}

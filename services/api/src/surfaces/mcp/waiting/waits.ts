import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { type FeedPosition, parseReaderPosition } from '@parley/core/domain/events';
import type { FollowedEvent } from '../../../turns/follow.ts';
import type { Shows } from '../capabilities.ts';
import type { ClientAsked } from '../open-requests.ts';
import { createOpenAsks } from './open-asks.ts';

/** What a call waits for, as far as its client cannot show it: its person acts in another place. */
export interface ElsewhereOpen {
  readonly questions: readonly Elicitation[];
  readonly approvals: readonly Approval[];
}

/** What a call waits for from its client; nothing of it was acted on yet. */
export interface AskedOfClient {
  readonly questions: readonly Elicitation[];
  readonly requests: readonly ClientAsked[];
}

/** What a call waits for, as its events go by. Times are those of `performance.now()`. */
export interface CallWaits {
  take(event: FollowedEvent): void;
  /** True while something is asked of the person or the client. */
  readonly isAsking: boolean;
  /** What the client has to show or to do, from `at` on. */
  asked(): Due<AskedOfClient> | undefined;
  /** The client has replied to a request. */
  replied(requestId: string): void;
  /** What the client has to be told, from `at` on. Nothing while it is asked itself: its answer may be all that is missing. */
  elsewhere(): Due<ElsewhereOpen> | undefined;
}

interface Due<Open> {
  readonly open: Open;
  readonly at: number;
}

/** The questions that a client shows. */
export type ShownModes = Pick<Shows, 'form' | 'url'>;

export interface CallWaitsOptions {
  /** What the client of the call declared. */
  readonly shows: ShownModes;
  /** The last event that was there when the reader came. */
  readonly until: FeedPosition | undefined;
  /** When the client asked for what it waits for: ms on the clock of the records, and by `performance.now()`. */
  readonly came: { readonly at: number; readonly here: number };
  /** Up to when all was asked that a client of the call was told of, by the clock of the records. Absent: nothing was told. */
  readonly toldUpTo?: number | undefined;
  /** How long a question that was told by then is waited for, until the client is told of it again. */
  readonly againMs: number;
}

// A run with several open questions asks them within this time. One that is detached says when it has asked all.
const QUIET_MS = 300;
// While earlier events are read.
const READING_MS = 3_000;

export function createWaits({ shows, until, came, toldUpTo = 0, againMs }: CallWaitsOptions): CallWaits {
  const asks = createOpenAsks();
  const showsNothing = !shows.form && !shows.url;
  let hasRead = until === undefined;
  let changedAt = 0;
  let isComplete = false;

  /** From when on the open ones are all that the run asks now. */
  function completeAt(): number {
    if (isComplete) return 0;
    return changedAt + (hasRead ? QUIET_MS : READING_MS);
  }

  /** True for what this request was not told of: it began before, or nobody was told, as the client had left. */
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

/** True at the event after which all of the turn waits for its person. */
function isWaitingAt(event: FollowedEvent): boolean {
  if ('isWaiting' in event && event.isWaiting) return true;
  return event.type === 'turn' && event.event.type === 'turn-detached';
}

function isAtLeast(position: FeedPosition | undefined, until: FeedPosition): boolean {
  return position !== undefined && (position.epoch !== until.epoch || position.seq >= until.seq);
}

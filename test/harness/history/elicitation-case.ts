import type {
  Action,
  AskEvent,
  CommandEvent,
  FinalEvent,
  HistoryEvent,
  Owner,
  ReadEvent,
  RespondEvent,
  Seen,
  StreamEvent,
  TerminalStatus,
  WaitEvent,
} from './events.ts';
import { ofType } from './events.ts';
import {
  canonical,
  EMPTY_CONTENT,
  type Outcome,
  STATUS_OF_ACTION,
  sameOwner,
  type Verdict,
  verdictOf,
} from './outcome.ts';

export type Kind = 'form' | 'url-server' | 'url-client';

/** A moment at which some client saw the elicitation. `startedAt` is absent where no request was made for it. */
export type View = Outcome & {
  readonly source: HistoryEvent['type'];
  readonly action: Action | undefined;
  readonly at: number;
  readonly startedAt: number | undefined;
  readonly serverTime: number | undefined;
};

/**
 * A command, as the outcome it asks for. `settles`: its success ends the elicitation. `consents`: it only agrees to
 * open a page that the server completes. `either`: one of the two, unknown which since the ask was never acknowledged.
 * `void`: it can change nothing on this kind of elicitation.
 */
export type Claim = Outcome & {
  readonly status: TerminalStatus;
  readonly role: 'settles' | 'consents' | 'either' | 'void';
  readonly verdict: Verdict;
  /** Sent by a caller who may not settle it. */
  readonly ofAnother: boolean;
  readonly event: CommandEvent;
  readonly recorded: View | undefined;
};

/** The case record of one elicitation: its events, and the conclusions that the rules share. */
export type ElicitationCase = {
  readonly elicitationId: string;
  readonly ask: AskEvent | undefined;
  /** When the earliest request was sent that may have created it. */
  readonly askedFrom: number | undefined;
  readonly kind: Kind | undefined;
  readonly owner: Owner | undefined;
  readonly expiresAt: number | undefined;
  readonly claims: readonly Claim[];
  readonly waits: readonly WaitEvent[];
  readonly reads: readonly ReadEvent[];
  readonly streamEvents: readonly StreamEvent[];
  readonly finals: readonly FinalEvent[];
  readonly views: readonly View[];
};

/** Builds the record from an elicitation's events; `askedFrom` also counts retries of an ask that never got an id. */
export function createElicitationCase(
  elicitationId: string,
  events: readonly HistoryEvent[],
  askedFrom: (ask: AskEvent) => number,
): ElicitationCase {
  const ask = ofType(events, 'ask').find(({ httpStatus }) => verdictOf(httpStatus) === 'acked');
  const waits = ofType(events, 'wait');
  const reads = ofType(events, 'read');
  const streamEvents = ofType(events, 'stream-event');
  const finals = ofType(events, 'final');
  const commands = ofType(events, 'respond', 'complete', 'withdraw');
  const wasOpened =
    [...reads, ...streamEvents, ...finals].some(({ status }) => status === 'opened') ||
    waits.some(({ outcome }) => outcome === 'opened') ||
    commands.some(showsOpened);
  const kind = ask ? kindOf(ask) : wasOpened ? 'url-server' : undefined;
  const owner = ask?.owner ?? finals[0]?.owner;
  const claims = commands.map((command) => claimOf(command, kind, owner));
  const ended = waits.flatMap(({ outcome, ...wait }) =>
    outcome === 'error' || outcome === 'none' ? [] : [{ ...wait, status: outcome }],
  );
  return {
    elicitationId,
    ask,
    askedFrom: ask && askedFrom(ask),
    kind,
    owner,
    // The first promise counts: a deadline that moves later must not excuse what it makes legal.
    expiresAt: ask?.expiresAt ?? finals[0]?.expiresAt,
    claims,
    waits,
    reads,
    streamEvents,
    finals,
    views: [
      ...claims.flatMap(({ recorded }) => recorded ?? []),
      ...[...ended, ...reads, ...streamEvents, ...finals].map((event) => viewOf(event, event, kind)),
    ],
  };
}

/** An accepted form shown without content has lost it: that must not pass for "not shown". */
export function wholeOutcome({ status, content }: View, kind: Kind | undefined): Outcome {
  const isLost = content === undefined && kind === 'form' && status === 'accepted';
  return { status, content: isLost ? EMPTY_CONTENT : content };
}

function kindOf(ask: AskEvent): Kind {
  return ask.mode === 'form' ? 'form' : `url-${ask.completion}`;
}

function showsOpened({ type, httpStatus, recorded }: CommandEvent): boolean {
  return recorded?.status === 'opened' || (type === 'complete' && verdictOf(httpStatus) === 'acked');
}

function claimOf(event: CommandEvent, kind: Kind | undefined, owner: Owner | undefined): Claim {
  const common = {
    event,
    verdict: verdictOf(event.httpStatus),
    ofAnother: owner !== undefined && isForeign(event, owner),
    recorded: recordedView(event, kind),
  };
  if (event.type === 'withdraw')
    return { ...common, status: 'withdrawn', content: undefined, role: 'settles' };
  if (event.type === 'respond') return { ...common, ...answerOf(event, kind), role: roleOf(event, kind) };
  const role = kind === 'form' || kind === 'url-client' ? 'void' : 'settles';
  return { ...common, status: 'accepted', content: undefined, role };
}

/** A person answers only for themselves; the other commands are for service keys of the tenant. */
function isForeign(event: CommandEvent, owner: Owner): boolean {
  if (event.type === 'respond') return !sameOwner(event.by, owner);
  return event.by !== undefined && (event.by.tenant !== owner.tenant || event.by.userId !== undefined);
}

function answerOf({ action, content }: RespondEvent, kind: Kind | undefined) {
  const status = STATUS_OF_ACTION[action];
  if (action !== 'accept') return { status, content: undefined };
  const empty = kind === 'form' ? EMPTY_CONTENT : undefined;
  return { status, content: content === undefined ? empty : canonical(content) };
}

function roleOf({ action, recorded }: RespondEvent, kind: Kind | undefined): Claim['role'] {
  if (action !== 'accept') return 'settles';
  if (kind === 'url-server') return 'consents';
  return kind !== undefined || recorded?.status === 'accepted' ? 'settles' : 'either';
}

function recordedView(event: CommandEvent, kind: Kind | undefined): View | undefined {
  const { httpStatus, recorded } = event;
  if (recorded !== undefined) return viewOf(event, recorded, kind);
  return httpStatus === 410 ? viewOf(event, { status: 'expired' }, kind) : undefined;
}

type Moment = Pick<View, 'at'> & { readonly type: View['source']; readonly startedAt?: number | undefined };

function viewOf(
  { type, at, startedAt }: Moment,
  { status, action, content, serverTime }: Seen,
  kind: Kind | undefined,
): View {
  const text = content === undefined ? undefined : canonical(content);
  // A finished url has no answer to show; an empty one means the same.
  const isNothing = status === 'accepted' && kind !== 'form' && text === EMPTY_CONTENT;
  const shown = isNothing ? undefined : text;
  return { source: type, status, action, content: shown, at, startedAt, serverTime };
}

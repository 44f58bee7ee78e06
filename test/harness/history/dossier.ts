import type {
  Action,
  AskEvent,
  CommandEvent,
  ElicitationStatus,
  FinalEvent,
  HistoryEvent,
  Owner,
  ReadEvent,
  RespondEvent,
  StreamEvent,
  TerminalStatus,
  WaitEvent,
} from './events.ts';
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

/** A moment at which somebody saw the elicitation. `startedAt` is absent where no request was made for it. */
export type View = Outcome & {
  readonly source: HistoryEvent['type'];
  readonly action: Action | undefined;
  readonly at: number;
  readonly startedAt: number | undefined;
  readonly serverTime: number | undefined;
};

/**
 * A command, as the outcome it asks for. `settles`: its success ends the question. `consents`: it only agrees to open
 * a page that the server finishes. `either`: it is one of the two, but nobody knows which since the ask was never
 * acknowledged. `void`: it can change nothing on this kind of question.
 */
export type Claim = Outcome & {
  readonly status: TerminalStatus;
  readonly role: 'settles' | 'consents' | 'either' | 'void';
  readonly verdict: Verdict;
  /** Sent by somebody who has no say in it. */
  readonly foreign: boolean;
  readonly event: CommandEvent;
  readonly recorded: View | undefined;
};

/** Everything that was noticed about one elicitation. */
export type Dossier = {
  readonly elicitationId: string;
  readonly ask: AskEvent | undefined;
  /** When the earliest request left that may have created it. */
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

/** The events of one elicitation, sorted by kind. */
export type Papers = {
  readonly elicitationId: string;
  readonly asks: AskEvent[];
  readonly commands: CommandEvent[];
  readonly waits: WaitEvent[];
  readonly reads: ReadEvent[];
  readonly streamEvents: StreamEvent[];
  readonly finals: FinalEvent[];
};

export function emptyPapers(elicitationId: string): Papers {
  return {
    elicitationId,
    asks: [],
    commands: [],
    waits: [],
    reads: [],
    streamEvents: [],
    finals: [],
  };
}

/** Draws the conclusions that all rules share; `askedFrom` knows the retries of an ask that never got an id. */
export function openDossier(papers: Papers, askedFrom: (ask: AskEvent) => number): Dossier {
  const ask = papers.asks[0];
  const kind = kindOf(papers);
  const final = papers.finals[0];
  const owner = ask?.owner ?? final?.owner;
  const claims = papers.commands.map((command) => claimOf(command, kind, owner));
  return {
    elicitationId: papers.elicitationId,
    ask,
    askedFrom: ask && askedFrom(ask),
    kind,
    owner,
    // The first promise counts: a deadline that moves later must not excuse what it makes legal.
    expiresAt: ask?.expiresAt ?? final?.expiresAt,
    claims,
    waits: papers.waits,
    reads: papers.reads,
    streamEvents: papers.streamEvents,
    finals: papers.finals,
    views: viewsOf(papers, claims, kind),
  };
}

/** Where content must show: an accepted form without it has lost it, and may not pass for "not shown". */
export function wholeOutcome({ status, content }: View, kind: Kind | undefined): Outcome {
  const lost = content === undefined && kind === 'form' && status === 'accepted';
  return { status, content: lost ? EMPTY_CONTENT : content };
}

function kindOf({ asks, commands, waits, reads, streamEvents, finals }: Papers): Kind | undefined {
  const ask = asks[0];
  if (ask) return ask.mode === 'form' ? 'form' : `url-${ask.completion}`;
  const wasOpened =
    [...reads, ...streamEvents, ...finals].some(({ status }) => status === 'opened') ||
    waits.some(({ outcome }) => outcome === 'opened') ||
    commands.some(
      ({ type, httpStatus, recorded }) =>
        recorded?.status === 'opened' || (type === 'complete' && verdictOf(httpStatus) === 'acked'),
    );
  return wasOpened ? 'url-server' : undefined;
}

function claimOf(event: CommandEvent, kind: Kind | undefined, owner: Owner | undefined): Claim {
  const common = {
    event,
    verdict: verdictOf(event.httpStatus),
    foreign: owner !== undefined && isForeign(event, owner),
    recorded: recordedView(event, kind),
  };
  if (event.type === 'withdraw')
    return {
      ...common,
      status: 'withdrawn',
      content: undefined,
      role: 'settles',
    };
  if (event.type === 'complete') {
    const role = kind === 'form' || kind === 'url-client' ? 'void' : 'settles';
    return { ...common, status: 'accepted', content: undefined, role };
  }
  return { ...common, ...answerOf(event, kind), role: roleOf(event, kind) };
}

/** A person answers for themselves only; the rest is for service keys of the tenant. */
function isForeign(event: CommandEvent, owner: Owner): boolean {
  if (event.type === 'respond') return !sameOwner(event.by, owner);
  return event.by !== undefined && (event.by.tenant !== owner.tenant || event.by.userId !== undefined);
}

function answerOf({ action, content }: RespondEvent, kind: Kind | undefined) {
  const status = STATUS_OF_ACTION[action];
  if (action !== 'accept') return { status, content: undefined };
  return {
    status,
    content: content === undefined ? (kind === 'form' ? EMPTY_CONTENT : undefined) : canonical(content),
  };
}

function roleOf({ action, recorded }: RespondEvent, kind: Kind | undefined): Claim['role'] {
  if (action !== 'accept') return 'settles';
  if (kind === 'url-server') return 'consents';
  return kind !== undefined || recorded?.status === 'accepted' ? 'settles' : 'either';
}

function contentOf(status: ElicitationStatus, content: unknown, kind: Kind | undefined): string | undefined {
  if (content === undefined) return undefined;
  const text = canonical(content);
  // A finished url has no answer to show, and an empty one says the same.
  return status === 'accepted' && kind !== 'form' && text === EMPTY_CONTENT ? undefined : text;
}

function recordedView(event: CommandEvent, kind: Kind | undefined): View | undefined {
  const { type, httpStatus, recorded, startedAt, at } = event;
  if (recorded) {
    const { status, action, content, serverTime } = recorded;
    return {
      source: type,
      status,
      action,
      content: contentOf(status, content, kind),
      startedAt,
      at,
      serverTime,
    };
  }
  if (httpStatus !== 410) return undefined;
  const unseen = {
    action: undefined,
    content: undefined,
    serverTime: undefined,
  };
  return { source: type, status: 'expired', startedAt, at, ...unseen };
}

function viewsOf(papers: Papers, claims: readonly Claim[], kind: Kind | undefined): View[] {
  const views: View[] = [];
  for (const { recorded } of claims) if (recorded) views.push(recorded);
  for (const wait of papers.waits) {
    const { outcome, action, content, startedAt, at, serverTime } = wait;
    if (outcome === 'error' || outcome === 'none') continue;
    const shown = contentOf(outcome, content, kind);
    views.push({
      source: 'wait',
      status: outcome,
      action,
      content: shown,
      startedAt,
      at,
      serverTime,
    });
  }
  for (const { status, action, content, startedAt, at, serverTime } of papers.reads) {
    views.push({
      source: 'read',
      status,
      action,
      content: contentOf(status, content, kind),
      startedAt,
      at,
      serverTime,
    });
  }
  const pushed = {
    action: undefined,
    content: undefined,
    startedAt: undefined,
    serverTime: undefined,
  };
  for (const { status, at } of papers.streamEvents)
    views.push({ source: 'stream-event', status, at, ...pushed });
  for (const { status, action, content, at } of papers.finals) {
    const shown = contentOf(status, content, kind);
    views.push({
      source: 'final',
      status,
      action,
      content: shown,
      at,
      startedAt: undefined,
      serverTime: undefined,
    });
  }
  return views;
}

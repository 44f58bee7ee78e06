import type { Dossier } from './dossier.ts';
import type { ElicitationStatus, Owner, StreamEvent } from './events.ts';
import { type Connection, getOrAdd, type IndexedHistory } from './index-history.ts';
import { isTerminal, sameOwner } from './outcome.ts';
import type { Finding, Limits } from './rules.ts';

type Position = { readonly epoch: string; readonly seq: number };

/** I11: nobody is shown what is another person's, on a stream or by a read. */
export function* nothingCrossesUsers({ streamEvents, reads, owner, ask }: Dossier): Generator<string> {
  for (const { subscriber, ownerUserId, streamRequestId, connectionId, at } of streamEvents) {
    const where = `connection ${connectionId} at ${at}`;
    if (ownerUserId !== subscriber.userId) yield `${where}: an event of another user`;
    else if (owner && !sameOwner(owner, subscriber)) yield `${where}: an event of another owner`;
    if (ask?.streamRequestId !== undefined && ask.streamRequestId !== streamRequestId) {
      yield `${where}: an event of another stream`;
    }
  }
  for (const { by, at } of reads) {
    if (!owner || (by.tenant === owner.tenant && (by.userId ?? owner.userId) === owner.userId)) continue;
    yield `read by somebody else at ${at}`;
  }
}

/** I12 on each connection: sequence numbers rise without a gap, from where the client said it was. */
export function* noGapNoRepeat({ connections }: IndexedHistory, limits: Limits): Generator<Finding> {
  const successor = limits.sparseFeeds ? nextSeen(connections) : (_: string, { seq }: Position) => seq + 1;
  for (const connection of connections) yield* connectionBreaches(connection, successor);
}

function* connectionBreaches(
  { connectionId, open, messages }: Connection,
  successor: (feed: string, after: Position) => number,
): Generator<Finding> {
  let last = open?.lastEventId === undefined ? undefined : positionOf(open.lastEventId);
  for (const message of messages) {
    if (message.type === 'stream-reset') {
      last = undefined;
      continue;
    }
    const { elicitationId, eventId } = message;
    const here = positionOf(eventId);
    const breach = here
      ? stepBreach(last, here, (after) => successor(feedOf(message, after.epoch), after))
      : 'no id';
    if (breach)
      yield {
        elicitationId,
        message: `connection ${connectionId}, event ${eventId}: ${breach}`,
      };
    last = here;
  }
}

function stepBreach(last: Position | undefined, here: Position, next: (after: Position) => number) {
  if (!last) return undefined;
  if (last.epoch !== here.epoch) return `a new epoch after ${last.epoch}, without a reset`;
  if (here.seq <= last.seq) return `again or backwards after ${last.seq}`;
  const expected = next(last);
  return here.seq > expected ? `a gap after ${last.seq}, expected ${expected}` : undefined;
}

/** In a feed that also carries unseen events, only what somebody was shown can be missed. */
function nextSeen(connections: readonly Connection[]): (feed: string, after: Position) => number {
  const seen = new Map<string, Set<number>>();
  for (const message of streamEvents(connections)) {
    const here = positionOf(message.eventId);
    if (here) getOrAdd(seen, feedOf(message, here.epoch), () => new Set<number>()).add(here.seq);
  }
  const next = new Map<string, Map<number, number>>();
  for (const [feed, seqs] of seen) {
    const ordered = [...seqs].sort((left, right) => left - right);
    next.set(
      feed,
      new Map(ordered.map((seq, index) => [seq, ordered[index + 1] ?? Number.POSITIVE_INFINITY])),
    );
  }
  // A position that nobody was shown belongs to an unseen event: nothing can be said about what follows it.
  return (feed, { seq }) => next.get(feed)?.get(seq) ?? Number.POSITIVE_INFINITY;
}

/** I12 on each feed: one id is one event, and an elicitation only moves forward and stops at its end. */
export function* feedsOnlyMoveOn({ connections }: IndexedHistory): Generator<Finding> {
  const feeds = new Map<string, Map<number, StreamEvent>>();
  for (const event of streamEvents(connections)) {
    const here = positionOf(event.eventId);
    if (!here) continue;
    const known = getOrAdd(feeds, feedOf(event, here.epoch), () => new Map<number, StreamEvent>());
    const earlier = getOrAdd(known, here.seq, () => event);
    if (!sameEvent(earlier, event)) {
      yield {
        elicitationId: event.elicitationId,
        message: `event ${event.eventId} is not the same for everyone`,
      };
    }
  }
  for (const known of feeds.values()) {
    const stages = new Map<string, number>();
    for (const [, event] of [...known].sort(([left], [right]) => left - right)) {
      const { elicitationId, eventId, status } = event;
      const before = stages.get(elicitationId) ?? 0;
      if (before === 2)
        yield {
          elicitationId,
          message: `event ${eventId} comes after the terminal one`,
        };
      else if (stageOf(status) < before)
        yield {
          elicitationId,
          message: `event ${eventId} goes back to ${status}`,
        };
      stages.set(elicitationId, Math.max(before, stageOf(status)));
    }
  }
}

/** I12 at the end of a feed: who is still connected when all is quiet has been told how everything ended. */
export function* noLostEnding({ dossiers, connections }: IndexedHistory): Generator<Finding> {
  const readers = new Map<string, Connection[]>();
  for (const connection of connections) {
    const { open } = connection;
    if (open)
      getOrAdd(readers, readerKey(open.subscriber, open.streamRequestId), (): Connection[] => []).push(
        connection,
      );
  }
  const quietAt = dossiers.reduce(
    (last, { finals }) => Math.max(last, finals[0]?.at ?? last),
    Number.NEGATIVE_INFINITY,
  );
  for (const { elicitationId, ask, finals, streamEvents: told } of dossiers) {
    const place = ask ? readerKey(ask.owner, ask.streamRequestId ?? '') : told[0] && placeOfEvent(told[0]);
    if (place === undefined || finals.some(({ status }) => !isTerminal(status))) continue;
    const listening = readers
      .get(place)
      ?.find((connection) => wasOpenAt(connection, finals[0]?.at ?? quietAt));
    if (!listening || told.some(({ status }) => isTerminal(status))) continue;
    yield {
      elicitationId,
      message: `connection ${listening.connectionId} never heard how it ended`,
    };
  }
}

function wasOpenAt({ open, closedAt }: Connection, at: number): boolean {
  return open !== undefined && open.at < at && (closedAt === undefined || closedAt > at);
}

function placeOfEvent({ subscriber, streamRequestId }: StreamEvent): string {
  return readerKey(subscriber, streamRequestId);
}

function* streamEvents(connections: readonly Connection[]): Generator<StreamEvent> {
  for (const { messages } of connections) {
    for (const message of messages) if (message.type === 'stream-event') yield message;
  }
}

function positionOf(eventId: string): Position | undefined {
  const [, epoch, seq] = /^(.+)-(\d+)$/.exec(eventId) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: Number(seq) };
}

function feedOf({ subscriber, streamRequestId }: StreamEvent, epoch: string): string {
  return JSON.stringify([subscriber.tenant, streamRequestId, epoch]);
}

function readerKey({ tenant, userId }: Owner, streamRequestId: string): string {
  return JSON.stringify([tenant, userId, streamRequestId]);
}

function sameEvent(left: StreamEvent, right: StreamEvent): boolean {
  return (
    left.elicitationId === right.elicitationId && left.name === right.name && left.status === right.status
  );
}

function stageOf(status: ElicitationStatus): number {
  if (status === 'pending') return 0;
  return status === 'opened' ? 1 : 2;
}

import { eventNumberOf } from '@parley/core/domain/events';
import type { ElicitationCase } from '../elicitation-case.ts';
import { type ElicitationStatus, ofType, type StreamEvent } from '../events.ts';
import { type Connection, getOrAdd, groupBy, type IndexedHistory } from '../index-history.ts';
import { isTerminal, sameOwner } from '../outcome.ts';
import type { Breach, Limits } from '../rule.ts';

type Position = { readonly epoch: string; readonly seq: number };

/** I11: no stream and no read shows one person's data to another. */
export function* nothingCrossesUsers({
  streamEvents,
  reads,
  owner,
  ask,
}: ElicitationCase): Generator<string> {
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
    yield `read by another caller at ${at}`;
  }
}

/** I12 on each connection: sequence numbers rise without a gap, from the client's Last-Event-ID on. */
export function* noGapNoRepeat({ connections }: IndexedHistory, limits: Limits): Generator<Breach> {
  const successor = limits.sparseFeeds ? nextSeen(connections) : (_: string, { seq }: Position) => seq + 1;
  for (const connection of connections) yield* connectionBreaches(connection, successor);
}

function* connectionBreaches(
  { connectionId, open, messages }: Connection,
  successor: (feed: string, after: Position) => number,
): Generator<Breach> {
  let last = open?.lastEventId === undefined ? undefined : positionOf(open.lastEventId);
  for (const event of messages) {
    if (event.type === 'stream-reset') {
      last = undefined;
      continue;
    }
    const { elicitationId, eventId } = event;
    const here = positionOf(eventId);
    const breach = here
      ? stepBreach(last, here, (after) => successor(feedOf(event, after.epoch), after))
      : 'no id';
    const message = `connection ${connectionId}, event ${eventId}: ${breach}`;
    if (breach) yield { subject: elicitationId, message };
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

/** In a feed that also carries unseen events, only an event that some connection showed can be missed. */
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
  // A position that no connection showed belongs to an unseen event: what follows it is unknown.
  return (feed, { seq }) => next.get(feed)?.get(seq) ?? Number.POSITIVE_INFINITY;
}

/** I12 on each feed: one id is one event, and an elicitation only advances and stops at its end. */
export function* feedsOnlyAdvance({ connections }: IndexedHistory): Generator<Breach> {
  const feeds = new Map<string, Map<number, StreamEvent>>();
  for (const event of streamEvents(connections)) {
    const here = positionOf(event.eventId);
    if (!here) continue;
    const known = getOrAdd(feeds, feedOf(event, here.epoch), () => new Map<number, StreamEvent>());
    const earlier = getOrAdd(known, here.seq, () => event);
    if (!sameEvent(earlier, event)) {
      const message = `event ${event.eventId} differs between connections`;
      yield { subject: event.elicitationId, message };
    }
  }
  for (const known of feeds.values()) {
    const stages = new Map<string, number>();
    for (const [, event] of [...known].sort(([left], [right]) => left - right)) {
      const { elicitationId, eventId, status } = event;
      const before = stages.get(elicitationId) ?? 0;
      if (before === 2)
        yield { subject: elicitationId, message: `event ${eventId} comes after the terminal one` };
      else if (stageOf(status) < before)
        yield { subject: elicitationId, message: `event ${eventId} goes back to ${status}` };
      stages.set(elicitationId, Math.max(before, stageOf(status)));
    }
  }
}

/** I12 at the end of a feed: a connection still open when all is quiet has shown how everything ended. */
export function* noLostEnding({ elicitations, connections }: IndexedHistory): Generator<Breach> {
  const readers = new Map(groupBy(connections, ({ open }) => open && placeOf(open)));
  const quietAt = elicitations.reduce(
    (last, { finals }) => Math.max(last, finals[0]?.at ?? last),
    Number.NEGATIVE_INFINITY,
  );
  for (const { elicitationId, ask, finals, streamEvents: shown } of elicitations) {
    const [subscriber, streamRequestId = ''] = [ask?.owner, ask?.streamRequestId];
    const place = subscriber ? placeOf({ subscriber, streamRequestId }) : shown[0] && placeOf(shown[0]);
    if (place === undefined || finals.some(({ status }) => !isTerminal(status))) continue;
    const listening = readers
      .get(place)
      ?.find((connection) => wasOpenAt(connection, finals[0]?.at ?? quietAt));
    if (!listening || shown.some(({ status }) => isTerminal(status))) continue;
    const message = `connection ${listening.connectionId} never showed how it ended`;
    yield { subject: elicitationId, message };
  }
}

function wasOpenAt({ open, closedAt }: Connection, at: number): boolean {
  return open !== undefined && open.at < at && (closedAt === undefined || closedAt > at);
}

function placeOf({
  subscriber: { tenant, userId },
  streamRequestId,
}: Pick<StreamEvent, 'subscriber' | 'streamRequestId'>): string {
  return JSON.stringify([tenant, userId, streamRequestId]);
}

function streamEvents(connections: readonly Connection[]): StreamEvent[] {
  return connections.flatMap(({ messages }) => ofType(messages, 'stream-event'));
}

function positionOf(eventId: string): Position | undefined {
  const [, epoch, seq] = /^(.+)-(\d+)$/.exec(eventId) ?? [];
  return epoch === undefined ? undefined : { epoch, seq: eventNumberOf({ seq: Number(seq) }) };
}

function feedOf({ subscriber, streamRequestId }: StreamEvent, epoch: string): string {
  return JSON.stringify([subscriber.tenant, streamRequestId, epoch]);
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

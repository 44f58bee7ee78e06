import type { Action, AskEvent, ElicitationStatus, HistoryEvent, Seen, StreamEvent } from '../events.ts';
import { getOrAdd } from '../index-history.ts';
import { isTerminal } from '../outcome.ts';

export type SimulatedRow = {
  readonly id: string;
  readonly ask: AskEvent;
  readonly createdAt: number;
  readonly expiresAt: number;
  acked: boolean;
  status: ElicitationStatus;
  action?: Action | undefined;
  content?: unknown;
  settledAt?: number | undefined;
};

type Entry = Pick<StreamEvent, 'eventId' | 'name' | 'elicitationId' | 'status' | 'ownerUserId'>;
type Feed = {
  readonly place: Pick<StreamEvent, 'subscriber' | 'streamRequestId'>;
  epoch: number;
  entries: Entry[];
};
type Reader = {
  readonly connectionId: string;
  readonly feed: Feed;
  received: { readonly at: number; readonly eventId: string }[];
  closed: boolean;
};
type Sleeper = { readonly row: SimulatedRow; readonly startedAt: number; readonly timeoutMs: number };

/** A store that takes one command at a time, its clients, and the clock they share. */
export type World = {
  now: number;
  readonly out: HistoryEvent[];
  readonly rows: SimulatedRow[];
  readonly feeds: Map<string, Feed>;
  readonly readers: Reader[];
  sleepers: Sleeper[];
};

/** The server's clock is far from the client's, as it may be; nothing may compare the two. */
export const SERVER_CLOCK = 7_200_000;

const SWEEP_LAG_MS = 7;
const GRACE_MS = 20;
const PUSH_MS = 3;

export function createWorld(): World {
  return { now: 1_000, out: [], rows: [], feeds: new Map(), readers: [], sleepers: [] };
}

/** Lets time pass; whatever falls due in between happens at its own moment. */
export function advance(world: World, until: number): void {
  const isDue = ({ startedAt, timeoutMs }: Sleeper) => startedAt + timeoutMs <= world.now;
  for (;;) {
    const due = world.rows
      .filter(({ status }) => !isTerminal(status))
      .map(({ expiresAt }) => expiresAt + SWEEP_LAG_MS);
    const next = Math.min(...due, ...world.sleepers.map(({ startedAt, timeoutMs }) => startedAt + timeoutMs));
    if (next > until) break;
    world.now = Math.max(world.now, next);
    for (const row of world.rows) if (row.expiresAt + SWEEP_LAG_MS <= world.now) expireIfDue(world, row);
    wake(world, isDue);
  }
  world.now = until;
}

export function expireIfDue(world: World, row: SimulatedRow): void {
  if (!isTerminal(row.status) && world.now >= row.expiresAt) move(world, row, 'expired');
}

/** The one step that changes a row; appends to the feed and wakes the waiters. */
export function move(
  world: World,
  row: SimulatedRow,
  status: ElicitationStatus,
  action?: Action,
  content?: unknown,
): void {
  Object.assign(row, { status, action, content });
  if (isTerminal(status)) row.settledAt = world.now;
  append(world, row);
  wake(world, (sleeper) => sleeper.row === row && isTerminal(status));
}

export function addRow(world: World, ask: AskEvent, lifetimeMs: number): SimulatedRow {
  const { now, rows } = world;
  const stamps = { createdAt: now, expiresAt: now + lifetimeMs };
  const row: SimulatedRow = { id: `el_${rows.length}`, ask, ...stamps, acked: false, status: 'pending' };
  rows.push(row);
  append(world, row);
  return row;
}

export function seen(world: World, { status, action, content }: SimulatedRow): Seen {
  return { status, action, content, serverTime: world.now + SERVER_CLOCK };
}

export function sleep(world: World, row: SimulatedRow, timeoutMs: number): void {
  expireIfDue(world, row);
  world.sleepers.push({ row, startedAt: world.now, timeoutMs });
  wake(world, (sleeper) => isTerminal(sleeper.row.status));
}

function wake(world: World, isAwake: (sleeper: Sleeper) => boolean): void {
  for (const { row, startedAt, timeoutMs } of world.sleepers.filter(isAwake)) {
    const { status: outcome, ...shown } = seen(world, row);
    const times = { timeoutMs, deadlineMs: timeoutMs + GRACE_MS, startedAt, at: world.now + 2 };
    world.out.push({ type: 'wait', elicitationId: row.id, ...times, outcome, ...shown });
  }
  world.sleepers = world.sleepers.filter((sleeper) => !isAwake(sleeper));
}

function append(world: World, { id: elicitationId, status, ask }: SimulatedRow): void {
  const feed = findFeed(world, ask);
  const name = isTerminal(status) ? 'resolved' : status === 'opened' ? 'updated' : 'request';
  const eventId = `e${feed.epoch}-${feed.entries.length + 1}`;
  const data = { elicitationId, status, ownerUserId: ask.owner.userId };
  feed.entries.push({ eventId, name: `elicitation-${name}`, ...data });
  for (const reader of world.readers)
    if (reader.feed === feed) deliver(world, reader, feed.entries.slice(-1));
}

function findFeed(world: World, { owner: subscriber, streamRequestId = '' }: AskEvent): Feed {
  const key = JSON.stringify([subscriber.tenant, subscriber.userId, streamRequestId]);
  return getOrAdd(world.feeds, key, () => ({
    place: { subscriber, streamRequestId },
    epoch: 1,
    entries: [],
  }));
}

function deliver(world: World, { connectionId, feed, received, closed }: Reader, entries: readonly Entry[]) {
  if (closed) return;
  const at = world.now + PUSH_MS;
  for (const entry of entries) {
    world.out.push({ type: 'stream-event', connectionId, ...feed.place, ...entry, at });
    received.push({ at, eventId: entry.eventId });
  }
}

/** Opens a connection that resumes after the feed's last one, or starts at the beginning. */
export function connect(world: World, target: number, isReconnect: boolean): void {
  const feed = pickOf([...world.feeds.values()], target);
  if (!feed) return;
  const before = world.readers.findLast((reader) => reader.feed === feed && reader.closed);
  const lastEventId = isReconnect ? before?.received.at(-1)?.eventId : undefined;
  const connectionId = `c${world.readers.length}`;
  const reader: Reader = { connectionId, feed, received: [], closed: false };
  world.readers.push(reader);
  world.out.push({ type: 'connection-open', connectionId, ...feed.place, lastEventId, at: world.now + 1 });
  const known = feed.entries.findIndex(({ eventId }) => eventId === lastEventId);
  if (lastEventId !== undefined && known < 0) startAnew(world, reader);
  else deliver(world, reader, feed.entries.slice(known + 1));
}

function startAnew(world: World, reader: Reader): void {
  const { connectionId, feed } = reader;
  world.out.push({ type: 'stream-reset', connectionId, at: world.now + PUSH_MS });
  deliver(world, reader, feed.entries);
}

/** Cuts a connection; what was on its way is lost. */
export function drop(world: World, target: number): void {
  const reader = pickOf(world.readers, target);
  if (!reader || reader.closed) return;
  const { connectionId } = reader;
  const at = world.now + 1;
  reader.closed = true;
  reader.received = reader.received.filter((message) => message.at <= at);
  const isMine = (event: HistoryEvent) => 'connectionId' in event && event.connectionId === connectionId;
  const kept = world.out.filter((event) => !isMine(event) || ('at' in event && event.at <= at));
  world.out.splice(0, world.out.length, ...kept, { type: 'connection-close', connectionId, at });
}

/** Loses a feed, which is rebuilt from the rows under another epoch. */
export function loseFeed(world: World, target: number): void {
  const feed = pickOf([...world.feeds.values()], target);
  if (!feed) return;
  const live = world.readers.filter((reader) => reader.feed === feed && !reader.closed);
  for (const reader of live) reader.closed = true;
  feed.epoch += 1;
  feed.entries = [];
  for (const row of world.rows) if (findFeed(world, row.ask) === feed) append(world, row);
  for (const reader of live) {
    reader.closed = false;
    startAnew(world, reader);
  }
  world.out.push({ type: 'fault', kind: 'feed lost', at: world.now });
}

export function pickOf<T>(items: readonly T[], pick: number): T | undefined {
  return items[pick % Math.max(1, items.length)];
}

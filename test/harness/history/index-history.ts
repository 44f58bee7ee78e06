import { createElicitationCase, type ElicitationCase } from './elicitation-case.ts';
import type {
  AskEvent,
  ConnectionOpenEvent,
  HistoryEvent,
  ResourcesEvent,
  StreamEvent,
  StreamResetEvent,
} from './events.ts';
import { ofType } from './events.ts';
import { createRunCase, type RunCase } from './run-case.ts';

/** One stream connection and what came over it, in order. */
export type Connection = {
  readonly connectionId: string;
  readonly open: ConnectionOpenEvent | undefined;
  readonly closedAt: number | undefined;
  readonly messages: readonly (StreamEvent | StreamResetEvent)[];
};

/** A history sorted into what the rules judge. */
export type IndexedHistory = {
  readonly asks: readonly AskEvent[];
  readonly elicitations: readonly ElicitationCase[];
  readonly runs: readonly RunCase[];
  readonly connections: readonly Connection[];
  readonly resources: readonly ResourcesEvent[];
};

/** Sorts a history, in time linear in the number of its events. */
export function indexHistory(events: readonly HistoryEvent[]): IndexedHistory {
  const asks = ofType(events, 'ask');
  const earliest = earliestByKey(asks);
  const askedFrom = (ask: AskEvent) => earliest.get(claimKey(ask) ?? '') ?? ask.startedAt;
  return {
    asks,
    elicitations: groupBy(events, elicitationOf).map(([id, own]) =>
      createElicitationCase(id, own, askedFrom),
    ),
    runs: groupBy(events, conversationOf).map(([conversation, own]) => createRunCase(conversation, own)),
    connections: groupBy(events, connectionOf).map(([id, own]) => createConnection(id, own)),
    resources: ofType(events, 'resources'),
  };
}

/** Identifies the asks that one Idempotency-Key ties together; undefined without a key. */
export function claimKey({ owner, idempotencyKey }: AskEvent): string | undefined {
  return idempotencyKey === undefined ? undefined : JSON.stringify([owner.tenant, idempotencyKey]);
}

export function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}

/** Items by key, in the order in which the keys come first; items without a key are left out. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) getOrAdd(groups, key, (): T[] => []).push(item);
  }
  return [...groups];
}

export function conversationOf(event: HistoryEvent): string | undefined {
  return 'conversation' in event ? event.conversation : undefined;
}

function elicitationOf(event: HistoryEvent): string | undefined {
  return 'elicitationId' in event && !('conversation' in event) ? event.elicitationId : undefined;
}

function connectionOf(event: HistoryEvent): string | undefined {
  return 'connectionId' in event ? event.connectionId : undefined;
}

function createConnection(connectionId: string, events: readonly HistoryEvent[]): Connection {
  return {
    connectionId,
    open: ofType(events, 'connection-open').at(-1),
    closedAt: ofType(events, 'connection-close').at(-1)?.at,
    messages: ofType(events, 'stream-event', 'stream-reset'),
  };
}

function earliestByKey(asks: readonly AskEvent[]): Map<string, number> {
  const groups = groupBy(asks, claimKey);
  return new Map(groups.map(([key, own]) => [key, Math.min(...own.map(({ startedAt }) => startedAt))]));
}

import { type Dossier, emptyPapers, openDossier, type Papers } from './dossier.ts';
import type {
  AskEvent,
  ConnectionOpenEvent,
  HistoryEvent,
  ResourcesEvent,
  StreamEvent,
  StreamResetEvent,
} from './events.ts';
import { verdictOf } from './outcome.ts';

/** One stream connection and what came over it, in order. */
export type Connection = {
  readonly connectionId: string;
  open: ConnectionOpenEvent | undefined;
  closedAt: number | undefined;
  readonly messages: (StreamEvent | StreamResetEvent)[];
};

/** A history sorted into what the rules look at. */
export type IndexedHistory = {
  readonly asks: readonly AskEvent[];
  readonly dossiers: readonly Dossier[];
  readonly connections: readonly Connection[];
  readonly resources: readonly ResourcesEvent[];
};

/** Sorts a history in one pass over its events and one over its elicitations. */
export function indexHistory(events: readonly HistoryEvent[]): IndexedHistory {
  const asks: AskEvent[] = [];
  const resources: ResourcesEvent[] = [];
  const papers = new Map<string, Papers>();
  const connections = new Map<string, Connection>();
  const papersOf = (id: string) => getOrAdd(papers, id, () => emptyPapers(id));
  for (const event of events) {
    if (event.type === 'ask') asks.push(event);
    else if (event.type === 'resources') resources.push(event);
    if ('connectionId' in event) fileMessage(connections, event);
    if ('elicitationId' in event && event.elicitationId !== undefined)
      filePaper(papersOf(event.elicitationId), event);
  }
  const earliest = earliestByKey(asks);
  const askedFrom = (ask: AskEvent) => earliest.get(claimKey(ask) ?? '') ?? ask.startedAt;
  return {
    asks,
    dossiers: [...papers.values()].map((each) => openDossier(each, askedFrom)),
    connections: [...connections.values()],
    resources,
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

function filePaper(papers: Papers, event: HistoryEvent): void {
  switch (event.type) {
    case 'ask':
      if (verdictOf(event.httpStatus) === 'acked') papers.asks.push(event);
      break;
    case 'respond':
    case 'complete':
    case 'withdraw':
      papers.commands.push(event);
      break;
    case 'wait':
      papers.waits.push(event);
      break;
    case 'read':
      papers.reads.push(event);
      break;
    case 'stream-event':
      papers.streamEvents.push(event);
      break;
    case 'final':
      papers.finals.push(event);
      break;
  }
}

function fileMessage(
  connections: Map<string, Connection>,
  event: Extract<HistoryEvent, { connectionId: string }>,
) {
  const { connectionId } = event;
  const create = (): Connection => ({
    connectionId,
    open: undefined,
    closedAt: undefined,
    messages: [],
  });
  const connection = getOrAdd(connections, connectionId, create);
  if (event.type === 'connection-open') connection.open = event;
  else if (event.type === 'connection-close') connection.closedAt = event.at;
  else connection.messages.push(event);
}

function earliestByKey(asks: readonly AskEvent[]): Map<string, number> {
  const earliest = new Map<string, number>();
  for (const ask of asks) {
    const key = claimKey(ask);
    if (key === undefined) continue;
    earliest.set(key, Math.min(earliest.get(key) ?? ask.startedAt, ask.startedAt));
  }
  return earliest;
}

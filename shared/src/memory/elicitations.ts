import { TIMEOUT_SECONDS_MAX } from '../domain/elicitations/ask-input.ts';
import type { Row } from '../domain/elicitations/row.ts';
import { isTerminal } from '../domain/elicitations/status.ts';
import type { Step } from '../domain/elicitations/transition.ts';
import type { ElicitationWake, Wake } from '../domain/elicitations/wake.ts';
import { formatFeedPosition } from '../domain/events.ts';
import { bucketOf, type Owner } from '../domain/ids.ts';
import type { BackendSettings } from '../ports/backend.ts';
import type { OutboxTask } from '../ports/delivery/outbox.ts';
import type { AskedKey, Elicitations } from '../ports/elicitations/elicitations.ts';
import type { StoredPart } from '../ports/erasure.ts';
import { createMemoryDeadlines } from './deadlines.ts';
import { newestFirst, pageOf } from './elicitation-page.ts';
import type { InProcessEventBus } from './event-bus.ts';
import { createExpiringMap } from './expiring-map.ts';
import type { MemoryFeed } from './feed.ts';
import type { MemoryFence } from './fence.ts';
import { jsonBytes } from './json-bytes.ts';
import type { MemoryOutbox } from './outbox/outbox.ts';
import type { MemorySubscriptions } from './outbox/subscriptions.ts';
import { ownerKey } from './owner-key.ts';

// The longest delay of a timer in Node.
const TIMER_MS_MAX = 0x7fffffff;

export interface MemoryElicitationsDeps {
  readonly feed: MemoryFeed;
  readonly wakes: InProcessEventBus<Wake>;
  readonly inboxWakes: InProcessEventBus<ElicitationWake>;
  readonly outbox: Pick<MemoryOutbox, 'note'>;
  readonly subscriptions: Pick<MemorySubscriptions, 'kindsOf'>;
  readonly fence: Pick<MemoryFence, 'check'>;
  readonly settings: BackendSettings;
}

/** The rows, and what the runs of the same process need to wait for them. */
export interface MemoryElicitations extends Elicitations {
  isOpen(id: string): boolean;
  /** Makes the commit that ends the row note this task. Replaces an earlier task with the same kind and subject. */
  onEnd(id: string, task: OutboxTask): void;
  /** The owner's elicitations, and the keys under which they were asked. */
  storedFor(owner: Owner): Pick<StoredPart, 'elicitationIds' | 'idempotencyKeys'>;
  erase(owner: Owner, part: Pick<StoredPart, 'elicitationIds' | 'idempotencyKeys'>): void;
}

interface MemoryRow {
  row: Row;
  /** When an ended row expires, in ms. */
  until: number;
  readonly onEnd: readonly OutboxTask[];
}

/** The rows in one process. Code without an await is atomic here, as a script is on Redis. */
export function createMemoryElicitations(deps: MemoryElicitationsDeps): MemoryElicitations {
  const { settings } = deps;
  const rows = new Map<string, MemoryRow>();
  const byOwner = new Map<string, Set<string>>();
  const deadlines = createMemoryDeadlines();
  const askedKeys = createExpiringMap<AskedKey & { readonly owner: string }>();
  const claimedMs = settings.retentionMs + TIMEOUT_SECONDS_MAX * 1000;

  function rowAt(id: string, now: number): Row | undefined {
    const held = rows.get(id);
    if (held === undefined) return undefined;
    if (held.until > now) return held.row;
    remove(held.row);
    return undefined;
  }

  function expireAfter(id: string, forMs: number): void {
    const waitMs = Math.min(forMs + 1, TIMER_MS_MAX);
    const expire = () => {
      if (rowAt(id, Date.now()) !== undefined && waitMs < forMs) expireAfter(id, forMs - waitMs);
    };
    setTimeout(expire, waitMs).unref();
  }

  function remove(row: Row): void {
    rows.delete(row.id);
    deadlines.remove(bucketOf(row.definition), row.id);
    const owned = byOwner.get(ownerKey(row.definition));
    owned?.delete(row.id);
    if (owned?.size === 0) byOwner.delete(ownerKey(row.definition));
  }

  function ownedRows(owner: Owner, now: number): Row[] {
    const ids = [...(byOwner.get(ownerKey(owner)) ?? [])];
    return ids.map((id) => rowAt(id, now)).filter((row) => row !== undefined);
  }

  function appendAndWake(row: Row, event: Step['event'], now: number, ttlMs: number): void {
    const { definition } = row;
    const position = deps.feed.append(definition, event, now, ttlMs);
    const wake: ElicitationWake = {
      position: formatFeedPosition(position),
      elicitationId: row.id,
      revision: row.revision,
      status: row.status,
      at: now,
      ...(row.settlement !== undefined && { settlement: row.settlement }),
    };
    const { tenant, userId, streamRequestId } = definition;
    deps.wakes.announce({ tenant, userId, streamRequestId }, wake);
    deps.inboxWakes.announce({ tenant, userId }, wake);
  }

  function subscribedTasks({ id, definition }: Row): OutboxTask[] {
    const kinds = deps.subscriptions.kindsOf(definition);
    return kinds.map((kind) => ({ kind, subject: id, bucket: bucketOf(definition) }));
  }

  function trimHistory(owner: Owner, now: number): void {
    const ended = ownedRows(owner, now).filter((row) => isTerminal(row.status));
    if (ended.length <= settings.historyPerUserMax) return;
    for (const row of ended.sort(newestFirst).slice(settings.historyPerUserMax)) {
      byOwner.get(ownerKey(owner))?.delete(row.id);
    }
  }

  return {
    async create(id, given, notes) {
      const now = Date.now();
      const definition = structuredClone(given);
      const existing = rowAt(id, now);
      if (existing !== undefined) return { outcome: 'exists', row: existing, now };
      deps.fence.check(definition);
      const open = ownedRows(definition, now).filter((row) => !isTerminal(row.status));
      if (open.length >= settings.openPerUserMax) return undefined;
      const openBytes = [...open.map((row) => row.definition), definition].map(jsonBytes);
      if (openBytes.reduce((sum, bytes) => sum + bytes) > settings.openBytesPerUserMax) return undefined;
      const timeoutMs = definition.timeoutSeconds * 1000;
      const row: Row = {
        id,
        definition,
        status: 'pending',
        revision: 1,
        createdAt: now,
        expiresAt: now + timeoutMs,
      };
      rows.set(id, { row, until: Number.POSITIVE_INFINITY, onEnd: [] });
      const armed = deadlines.add(bucketOf(definition), id, row.expiresAt, now);
      byOwner.set(ownerKey(definition), (byOwner.get(ownerKey(definition)) ?? new Set()).add(id));
      const event = {
        type: 'elicitation-request',
        elicitationId: id,
        revision: 1,
        status: 'pending',
      } as const;
      const noted = [...(notes?.tasks ?? []), ...subscribedTasks(row)];
      for (const task of noted) deps.outbox.note(task);
      const { idempotencyKey: key } = notes ?? {};
      if (key !== undefined)
        askedKeys.set(
          askedName(definition, key),
          { owner: ownerKey(definition), key, elicitationId: id },
          now + claimedMs,
        );
      appendAndWake(row, event, now, settings.retentionMs + timeoutMs);
      return {
        outcome: 'created',
        row,
        now,
        ...(noted.length > 0 && { noted }),
        ...(armed !== undefined && { armed }),
      };
    },

    async read(id) {
      const now = Date.now();
      return { row: rowAt(id, now), now };
    },

    async readMany(ids) {
      const now = Date.now();
      return { rows: ids.map((id) => rowAt(id, now)), now };
    },

    async commit(decidedOn, step, notes = { tasks: [] }) {
      const now = Date.now();
      const row = rowAt(decidedOn.id, now);
      if (
        row === undefined ||
        row.revision !== decidedOn.revision ||
        isDue(row, now) !== (step.guard === 'due')
      ) {
        return { committed: false, row, now };
      }
      const terminal = isTerminal(step.status);
      const next: Row = {
        ...row,
        status: step.status,
        revision: row.revision + 1,
        ...(terminal && {
          settlement: structuredClone(step.settlement ?? {}),
          settledAt: now,
        }),
      };
      const { onEnd = [] } = rows.get(row.id) ?? {};
      const keptMs = Math.max(settings.retentionMs, notes.keepEndedMs ?? 0);
      rows.set(row.id, {
        row: next,
        until: terminal ? now + keptMs : Number.POSITIVE_INFINITY,
        onEnd: terminal ? [] : onEnd,
      });
      if (terminal) {
        deadlines.remove(bucketOf(row.definition), row.id);
        trimHistory(row.definition, now);
        expireAfter(row.id, keptMs);
      }
      const noted = [...notes.tasks, ...(terminal ? onEnd : []), ...subscribedTasks(row)];
      for (const task of noted) deps.outbox.note(task);
      appendAndWake(next, step.event, now, settings.retentionMs);
      return { committed: true, row: next, now, ...(noted.length > 0 && { noted }) };
    },

    async page(request) {
      const now = Date.now();
      return { ...pageOf(ownedRows(request.owner, now), request, settings.pageBytesMax), now };
    },

    async due(bucket, limit, skip = 0) {
      return deadlines.due(bucket, Date.now()).slice(skip, skip + limit);
    },

    async arm(bucket, skip = 0) {
      return deadlines.arm(bucket, skip, Date.now());
    },

    async keep(id, forMs) {
      const held = rows.get(id);
      if (held === undefined || !isTerminal(held.row.status)) return;
      held.until = Date.now() + forMs;
      expireAfter(id, forMs);
    },

    async forget(bucket, id) {
      deadlines.remove(bucket, id);
    },

    isOpen(id) {
      const row = rowAt(id, Date.now());
      return row !== undefined && !isTerminal(row.status);
    },

    onEnd(id, task) {
      const held = rows.get(id);
      if (held === undefined) return;
      const others = held.onEnd.filter(({ kind, subject }) => kind !== task.kind || subject !== task.subject);
      rows.set(id, { ...held, onEnd: [...others, task] });
    },

    storedFor(owner) {
      const all = [...rows.values()].map(({ row }) => row);
      const keys = askedKeys.values().filter((asked) => asked.owner === ownerKey(owner));
      return {
        elicitationIds: all
          .filter(({ definition }) => ownerKey(definition) === ownerKey(owner))
          .map(({ id }) => id),
        idempotencyKeys: keys.map(({ key, elicitationId }) => ({ key, elicitationId })),
      };
    },

    erase(owner, { elicitationIds, idempotencyKeys }) {
      for (const id of elicitationIds) {
        const held = rows.get(id);
        if (held !== undefined) remove(held.row);
      }
      for (const { key } of idempotencyKeys) askedKeys.delete(askedName(owner, key));
    },
  };
}

function askedName(owner: Owner, key: string): string {
  return JSON.stringify([ownerKey(owner), key]);
}

function isDue(row: Row, now: number): boolean {
  return now >= row.expiresAt;
}

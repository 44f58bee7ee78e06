/**
 * The rows of all record families in one process, with their indexes, written in atomic steps as the Redis scripts do. Which
 * move is allowed is decided by the callers' transition tables.
 */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { formatFeedPosition } from '@parley/core/domain/events';
import type { Family, FamilyTypes, RowOf, StepOf } from '@parley/core/domain/family';
import { bucketOf, isApprovalId, type Owner } from '@parley/core/domain/ids';
import type { ApprovalWake } from '../../domain/approvals/wake.ts';
import type { InboxWake, Wake } from '../../domain/elicitations/wake.ts';
import { extendedTo } from '../../domain/extend.ts';
import { jsonBytes } from '../../domain/json/bytes.ts';
import type { BackendSettings } from '../../ports/backend.ts';
import type { CommitNotes } from '../../ports/delivery/kind.ts';
import type { OutboxTask } from '../../ports/delivery/outbox.ts';
import type { AskedKey, CreateNotes, Records } from '../../ports/elicitations/elicitations.ts';
import type { InProcessEventBus } from '../event-bus.ts';
import { createExpiringMap } from '../expiring-map.ts';
import type { MemoryFeed } from '../feed.ts';
import type { MemoryFence } from '../fence.ts';
import type { MemoryOutbox } from '../outbox/outbox.ts';
import type { MemorySubscriptions } from '../outbox/subscriptions.ts';
import { ownerKey } from '../owner-key.ts';
import type { MemoryTenantChanges } from '../tenant-changes.ts';
import { createMemoryDeadlines, type MemoryDeadlines } from './deadlines.ts';
import { newestFirst, pageOf } from './page.ts';

// Node cannot set a longer timer.
const TIMER_MS_MAX = 0x7fffffff;

export interface MemoryRowsDeps {
  readonly feed: MemoryFeed;
  readonly wakes: InProcessEventBus<Wake>;
  readonly approvalWakes: InProcessEventBus<ApprovalWake>;
  readonly inboxWakes: InProcessEventBus<InboxWake>;
  readonly outbox: Pick<MemoryOutbox, 'note'>;
  readonly subscriptions: Pick<MemorySubscriptions, 'kindsOf'>;
  readonly fence: Pick<MemoryFence, 'check'>;
  readonly tenantChanges: Pick<MemoryTenantChanges, 'announce'>;
  readonly settings: BackendSettings;
}

type AnyRow = RowOf<FamilyTypes>;

interface MemoryRow {
  row: AnyRow;
  /** Whether the family regards the row as ended. */
  readonly isEnded: boolean;
  /** When the retention of an ended row ends, in ms. */
  until: number;
  readonly onEnd: readonly OutboxTask[];
}

type StoredKey = AskedKey & { readonly owner: string };

/** The rows of all families in one process, and their common indexes. */
interface MemoryRows {
  readonly deadlines: MemoryDeadlines;
  readonly askedKeys: ReturnType<typeof createExpiringMap<StoredKey>>;
  /** The ports of one family on these rows. */
  recordsOf<T extends FamilyTypes>(family: Family<T>): Records<T>;
  find(id: string): MemoryRow | undefined;
  replace(row: MemoryRow): void;
  remove(row: AnyRow): void;
  all(): MemoryRow[];
  ownedBy(owner: Owner): MemoryRow[];
  expireAfter(id: string, forMs: number): void;
}

/** A synchronous function is the atomic step here, as a script is on Redis. */
export function createMemoryRows(deps: MemoryRowsDeps): MemoryRows {
  const { settings } = deps;
  const rows = new Map<string, MemoryRow>();
  const byOwner = new Map<string, Set<string>>();
  const deadlines = createMemoryDeadlines();
  const askedKeys = createExpiringMap<StoredKey>();
  const claimedMs = settings.retentionMs + TIMEOUT_SECONDS_MAX * 1000;

  function find(id: string): MemoryRow | undefined {
    const held = rows.get(id);
    if (held === undefined || held.until > Date.now()) return held;
    remove(held.row);
    return undefined;
  }

  function expireAfter(id: string, forMs: number): void {
    const waitMs = Math.min(forMs + 1, TIMER_MS_MAX);
    const expire = () => {
      if (find(id) !== undefined && waitMs < forMs) expireAfter(id, forMs - waitMs);
    };
    setTimeout(expire, waitMs).unref();
  }

  function remove(row: AnyRow): void {
    rows.delete(row.id);
    deadlines.remove(bucketOf(row.definition), row.id);
    const owned = byOwner.get(ownerKey(row.definition));
    owned?.delete(row.id);
    if (owned?.size === 0) byOwner.delete(ownerKey(row.definition));
  }

  function ownedBy(owner: Owner): MemoryRow[] {
    const ids = [...(byOwner.get(ownerKey(owner)) ?? [])];
    return ids.map(find).filter((held) => held !== undefined);
  }

  function appendAndWake<T extends FamilyTypes>(
    family: Family<T>,
    row: RowOf<T>,
    event: T['event'],
    { ttlMs, now }: { readonly ttlMs: number; readonly now: number },
  ): void {
    const { tenant, userId, streamRequestId } = row.definition;
    const stream = { tenant, userId, streamRequestId };
    const position = deps.feed.append(row.definition, event, now, ttlMs);
    const wake = {
      ...family.wakeHintOf(row.id, row.revision, row.status),
      position: formatFeedPosition(position),
      at: now,
      ...(row.settlement !== undefined && { settlement: row.settlement }),
    } as InboxWake;
    deps.wakes.announce(stream, wake);
    if ('approvalId' in wake) deps.approvalWakes.announce(stream, wake);
    deps.inboxWakes.announce({ tenant, userId }, wake);
    const kind = isApprovalId(row.id) ? 'approval' : 'elicitation';
    const moved = row.settledAt === undefined ? 'changed' : 'ended';
    deps.tenantChanges.announce({
      kind,
      id: row.id,
      tenant,
      userId,
      change: row.revision === 1 ? 'began' : moved,
    });
  }

  function trimHistory(owner: Owner): void {
    const ended = ownedBy(owner).filter(({ isEnded }) => isEnded);
    if (ended.length <= settings.historyPerUserMax) return;
    const sorted = ended.map(({ row }) => row).sort(newestFirst);
    for (const row of sorted.slice(settings.historyPerUserMax)) byOwner.get(ownerKey(owner))?.delete(row.id);
  }

  /** Stores the next state of a row. Returns the tasks that become due when the row ends. */
  function replaceRow(
    row: AnyRow,
    isEnded: boolean,
    { keepEndedMs = 0 }: CommitNotes,
  ): readonly OutboxTask[] {
    const { onEnd = [] } = rows.get(row.id) ?? {};
    if (!isEnded) {
      rows.set(row.id, { row, isEnded, until: Number.POSITIVE_INFINITY, onEnd });
      return [];
    }
    const keptMs = Math.max(settings.retentionMs, keepEndedMs);
    rows.set(row.id, { row, isEnded, until: (row.settledAt ?? 0) + keptMs, onEnd: [] });
    deadlines.remove(bucketOf(row.definition), row.id);
    trimHistory(row.definition);
    expireAfter(row.id, keptMs);
    return onEnd;
  }

  function subscribedTasks({ id, definition }: AnyRow): OutboxTask[] {
    const kinds = deps.subscriptions.kindsOf(definition);
    return kinds.map((kind) => ({ kind, subject: id, bucket: bucketOf(definition) }));
  }

  function hasRoomFor(definition: FamilyTypes['definition']): boolean {
    const open = ownedBy(definition).filter(({ isEnded }) => !isEnded);
    if (open.length >= settings.openPerUserMax) return false;
    const bytes = [...open.map(({ row }) => row.definition), definition].map(jsonBytes);
    return bytes.reduce((sum, each) => sum + each) <= settings.openBytesPerUserMax;
  }

  function recordsOf<T extends FamilyTypes>(family: Family<T>): Records<T> {
    // The prefix of an id names its family, so a row under such an id has the family's types.
    const rowAt = (id: string) => find(id)?.row as RowOf<T> | undefined;

    function create(id: string, given: T['definition'], { idempotencyKey: key, tasks }: CreateNotes) {
      const now = Date.now();
      const definition = structuredClone(given);
      const existing = rowAt(id);
      if (existing !== undefined) return { outcome: 'exists', row: existing, now } as const;
      deps.fence.check(definition);
      if (!hasRoomFor(definition)) return undefined;
      const timeoutMs = definition.timeoutSeconds * 1000;
      const row: RowOf<T> = {
        id,
        definition,
        status: family.initialStatus,
        revision: 1,
        createdAt: now,
        expiresAt: now + timeoutMs,
      };
      rows.set(id, { row, isEnded: false, until: Number.POSITIVE_INFINITY, onEnd: [] });
      const armed = deadlines.add(bucketOf(definition), id, row.expiresAt, now);
      byOwner.set(ownerKey(definition), (byOwner.get(ownerKey(definition)) ?? new Set()).add(id));
      const noted = [...tasks, ...subscribedTasks(row)];
      for (const task of noted) deps.outbox.note(task, { tenant: row.definition.tenant });
      if (key !== undefined) {
        const owner = ownerKey(definition);
        askedKeys.set(askedName(definition, key), { owner, key, elicitationId: id }, now + claimedMs);
      }
      const event = family.eventOf(id, 1, row.status);
      appendAndWake(family, row, event, { ttlMs: settings.retentionMs + timeoutMs, now });
      return {
        outcome: 'created',
        row,
        now,
        ...(noted.length > 0 && { noted }),
        ...(armed !== undefined && { armed }),
      } as const;
    }

    function commit(decidedOn: RowOf<T>, step: StepOf<T>, notes: CommitNotes) {
      const now = Date.now();
      const row = rowAt(decidedOn.id);
      if (row === undefined || !holds(row, decidedOn, step.guard, now)) return { committed: false, row, now };
      const terminal = family.isTerminal(step.status);
      const next = rowAfter(row, step, terminal ? now : undefined);
      const noted = [...notes.tasks, ...replaceRow(next, terminal, notes), ...subscribedTasks(row)];
      if (step.expiresAt !== undefined) deadlines.move(bucketOf(row.definition), row.id, step.expiresAt);
      for (const task of noted) deps.outbox.note(task, { tenant: row.definition.tenant });
      const openMs = Math.max(0, (step.expiresAt ?? now) - now);
      appendAndWake(family, next, step.event, { ttlMs: settings.retentionMs + openMs, now });
      return { committed: true, row: next, now, ...(noted.length > 0 && { noted }) };
    }

    return {
      create: async (id, definition, notes = { tasks: [] }) => create(id, definition, notes),
      read: async (id) => ({ row: rowAt(id), now: Date.now() }),
      readEach: (ids) => Promise.allSettled(ids.map(async (id) => ({ row: rowAt(id), now: Date.now() }))),
      commit: async (row, step, notes = { tasks: [] }) => commit(row, step, notes),
      commitEach: (moves) =>
        Promise.allSettled(moves.map(async ({ row, step, notes }) => commit(row, step, notes))),
      async page(request) {
        const owned = ownedBy(request.owner).map(({ row }) => row as RowOf<T>);
        const ofFamily = owned.filter(({ id }) => id.startsWith(family.prefix));
        return pageOf(ofFamily, request, settings.pageBytesMax);
      },
    };
  }

  return {
    deadlines,
    askedKeys,
    recordsOf,
    find,
    replace: (held) => void rows.set(held.row.id, held),
    remove,
    all: () => [...rows.values()],
    ownedBy,
    expireAfter,
  };
}

/** The key in the index of asked records for an owner's idempotency key. */
export function askedName(owner: Owner, key: string): string {
  return JSON.stringify([ownerKey(owner), key]);
}

/** True when a step that was decided on the row `decidedOn` may still be committed. */
function holds(row: AnyRow, decidedOn: AnyRow, guard: 'open' | 'due', now: number): boolean {
  const isSame = row.revision === decidedOn.revision && row.createdAt === decidedOn.createdAt;
  return isSame && row.settledAt === undefined && now >= row.expiresAt === (guard === 'due');
}

/** The row after a step. `settledAt` is set when the step ends it. */
function rowAfter<T extends FamilyTypes>(
  row: RowOf<T>,
  { status, settlement, expiresAt }: StepOf<T>,
  settledAt: number | undefined,
): RowOf<T> {
  const extended = expiresAt === undefined ? {} : extendedTo(row, expiresAt);
  const next = { ...row, ...extended, status, revision: row.revision + 1 };
  if (settledAt === undefined) return next;
  return { ...next, settlement: structuredClone(settlement ?? {}), settledAt };
}

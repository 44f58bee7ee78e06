import type { Elicitation } from '../domain/elicitations/elicitation.ts';
import { type Row, toWire } from '../domain/elicitations/row.ts';
import { isTerminal, OPEN_STATUSES } from '../domain/elicitations/status.ts';
import type { ElicitationEventName } from '../domain/events.ts';
import type { Owner } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import { SleeperReads } from './retry-while-unavailable.ts';
import { WakeSignal } from './wake-signal.ts';

/** One item for a reader of an inbox. */
export type InboxItem =
  | { readonly type: 'snapshot'; readonly elicitations: readonly Elicitation[] }
  | {
      readonly type: 'change';
      readonly event: ElicitationEventName;
      readonly elicitation: Elicitation;
    };

export interface InboxInput {
  readonly owner: Owner;
  readonly signal?: AbortSignal;
}

const PAGE = 200;

/**
 * Follows the open elicitations of one person: first a snapshot, newest first, then every change, on any pod. A new
 * snapshot follows when the store has lost an elicitation that the reader knows as open.
 */
export async function* watchInbox(
  deps: EngineDeps,
  { owner, signal }: InboxInput,
): AsyncGenerator<InboxItem, void> {
  const wakeSignal = new WakeSignal(signal);
  const reads = new SleeperReads();
  const touched = new Set<string>();
  let stale = false;
  const subscription = deps.inboxWakes.subscribe({ tenant: owner.tenant, userId: owner.userId }, (signal) => {
    if (signal.type === 'event') touched.add(signal.event.elicitationId);
    else stale = true;
    wakeSignal.notify();
  });
  /** The elicitations that the reader knows as open: the last revision that it got, by id. */
  let known: Map<string, number> | undefined;
  try {
    for (;;) {
      const ids = known === undefined || stale ? undefined : [...touched];
      stale = false;
      touched.clear();
      const read = await reads.read(() => readInbox(deps, owner, known, ids));
      if (read === undefined) {
        stale = true;
      } else if (known === undefined) {
        known = new Map(read.rows.map((row) => [row.id, row.revision]));
        yield {
          type: 'snapshot',
          elicitations: read.rows.map((row) => wire(row, read.now)),
        };
      } else {
        yield* changes(known, read);
        if (read.missing.some((id) => known?.has(id))) {
          known = undefined;
          continue;
        }
      }
      const reason = await wakeSignal.wait(performance.now() + reads.pauseMs(deps.settings.recheckMs));
      if (reason === 'time') stale = true;
      else reads.notified();
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

interface InboxReading {
  readonly rows: readonly Row[];
  /** Ids that were read and have no row. */
  readonly missing: readonly string[];
  readonly now: number;
}

/** The rows with these ids; without `ids` all open rows and all rows that the reader knows. */
async function readInbox(
  deps: EngineDeps,
  owner: Owner,
  known: ReadonlyMap<string, number> | undefined,
  ids: readonly string[] | undefined,
): Promise<InboxReading> {
  if (ids !== undefined) return readRows(deps, ids);
  const open = await readOpen(deps, owner);
  const seen = new Set(open.rows.map((row) => row.id));
  const ended = await readRows(
    deps,
    [...(known?.keys() ?? [])].filter((id) => !seen.has(id)),
  );
  return { ...ended, rows: [...open.rows, ...ended.rows], now: open.now };
}

async function readRows(deps: EngineDeps, ids: readonly string[]): Promise<InboxReading> {
  if (ids.length === 0) return { rows: [], missing: [], now: 0 };
  const { rows, now } = await deps.elicitations.readMany(ids);
  return {
    rows: rows.filter((row) => row !== undefined),
    missing: ids.filter((_, index) => rows[index] === undefined),
    now,
  };
}

async function readOpen(deps: EngineDeps, owner: Owner): Promise<Pick<InboxReading, 'rows' | 'now'>> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await deps.elicitations.page({
      owner,
      statuses: OPEN_STATUSES,
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    rows.push(...page.rows);
    if (page.nextCursor === undefined) return { rows, now: page.now };
    cursor = page.nextCursor;
  }
}

/**
 * Yields each row that differs from what the reader got, oldest first, and updates `known`. A revision below the known
 * one differs, too: Redis may have lost the last commits, and the end of a question may have a revision that was sent
 * before. A terminal row is left out only where the reader does not know the elicitation as open.
 */
function* changes(known: Map<string, number>, { rows, now }: InboxReading): Generator<InboxItem> {
  for (const row of [...rows].sort((a, b) => a.createdAt - b.createdAt)) {
    const sent = known.get(row.id);
    if (isTerminal(row.status)) {
      if (!known.delete(row.id)) continue;
    } else {
      if (sent === row.revision) continue;
      known.set(row.id, row.revision);
    }
    yield {
      type: 'change',
      event: eventOf(row, sent),
      elicitation: wire(row, now),
    };
  }
}

function eventOf(row: Row, sent: number | undefined): ElicitationEventName {
  if (isTerminal(row.status)) return 'elicitation-resolved';
  return sent === undefined ? 'elicitation-request' : 'elicitation-updated';
}

function wire(row: Row, now: number): Elicitation {
  return toWire(row, { now, content: false });
}

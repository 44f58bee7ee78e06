import type { Elicitation } from '../domain/elicitations/elicitation.ts';
import { type Row, toWire } from '../domain/elicitations/row.ts';
import { isTerminal } from '../domain/elicitations/status.ts';
import type { ElicitationEventName } from '../domain/events.ts';
import type { Owner } from '../domain/ids.ts';
import { cancelTimer, type EngineDeps } from './deps.ts';
import { openPages } from './open-pages.ts';
import { SleeperReads } from './retry-while-unavailable.ts';
import { WakeSignal } from './wake-signal.ts';

/** One item for a reader of an inbox. */
export type InboxItem =
  /** A part of a snapshot, the first one numbered 0. The parts of one snapshot follow each other. */
  | {
      readonly type: 'snapshot';
      readonly part: number;
      /** True when another part follows. */
      readonly more: boolean;
      readonly elicitations: readonly Elicitation[];
    }
  | {
      readonly type: 'change';
      readonly event: ElicitationEventName;
      readonly elicitation: Elicitation;
    };

export interface InboxInput {
  readonly owner: Owner;
  readonly signal?: AbortSignal;
}

/** The elicitations that a reader knows as open: the last revision that it got, by id. */
type KnownRevisions = Map<string, number>;

interface InboxReading {
  readonly rows: readonly Row[];
  readonly now: number;
}

// Rows that are read by their ids at once.
const ROWS_AT_ONCE = 20;

/**
 * Follows the open elicitations of one person: first a snapshot, newest first, then every change, on any pod. A new
 * snapshot follows when the store has lost an elicitation that the reader knows as open. A page is read when the reader
 * has taken the one before, so that a slow reader holds one page in memory.
 */
export async function* watchInbox(
  deps: EngineDeps,
  { owner, signal }: InboxInput,
): AsyncGenerator<InboxItem, void> {
  const { recheckMs } = deps.settings;
  const wakeSignal = new WakeSignal(signal);
  const touched = new Set<string>();
  let stale = false;
  const subscription = deps.inboxWakes.subscribe({ tenant: owner.tenant, userId: owner.userId }, (signal) => {
    if (signal.type === 'event') {
      cancelTimer(deps, signal.event);
      touched.add(signal.event.elicitationId);
    } else stale = true;
    wakeSignal.notify();
  });
  const reads = new SleeperReads();

  async function sleep(): Promise<'notified' | 'time'> {
    const reason = await wakeSignal.wait(performance.now() + reads.pauseMs(recheckMs));
    if (reason === 'notified') reads.notified();
    return reason;
  }

  /** Reads again and again until Redis is available. */
  async function read<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      const result = await reads.read(run);
      if (result !== undefined) return result;
      await sleep();
    }
  }

  const inbox = createInboxReader(deps.elicitations, owner, read);
  let isIntact = false;
  try {
    for (;;) {
      const ids = [...touched];
      const items: AsyncGenerator<InboxItem, boolean> = !isIntact
        ? inbox.snapshot()
        : stale
          ? inbox.recheck()
          : inbox.readChanged(ids);
      touched.clear();
      stale = false;
      isIntact = yield* items;
      if (isIntact && !stale && touched.size === 0) stale = (await sleep()) === 'time';
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

/** What a reader of an inbox gets. Each method returns false when the store has lost what the reader knows as open. */
interface InboxReader {
  /** All open elicitations, page by page. */
  snapshot(): AsyncGenerator<InboxItem, boolean>;
  /** The changes of these elicitations. */
  readChanged(ids: Iterable<string>): AsyncGenerator<InboxItem, boolean>;
  /** The changes of all elicitations that are open, or that the reader knows as open. */
  recheck(): AsyncGenerator<InboxItem, boolean>;
}

function createInboxReader(
  elicitations: EngineDeps['elicitations'],
  owner: Owner,
  read: <T>(run: () => Promise<T>) => Promise<T>,
): InboxReader {
  const known: KnownRevisions = new Map();

  const pages = () => openPages((request) => read(() => elicitations.page(request)), { owner });

  async function* readChanged(ids: Iterable<string>): AsyncGenerator<InboxItem, boolean> {
    const rest = [...ids];
    while (rest.length > 0) {
      const batch = rest.splice(0, ROWS_AT_ONCE);
      const { rows, now } = await read(() => elicitations.readMany(batch));
      yield* changes(known, { rows: rows.filter((row) => row !== undefined), now });
      if (batch.some((id, at) => rows[at] === undefined && known.has(id))) return false;
    }
    return true;
  }

  return {
    async *snapshot() {
      known.clear();
      let part = 0;
      for await (const { rows, now, nextCursor } of pages()) {
        for (const row of rows) known.set(row.id, row.revision);
        const parts = { type: 'snapshot', part, more: nextCursor !== undefined } as const;
        yield { ...parts, elicitations: rows.map((row) => wire(row, now)) };
        part += 1;
      }
      return true;
    },
    readChanged,
    async *recheck() {
      const unseen = new Set(known.keys());
      for await (const page of pages()) {
        for (const row of page.rows) unseen.delete(row.id);
        yield* changes(known, page);
      }
      return yield* readChanged(unseen);
    },
  };
}

/**
 * Yields each row that differs from what the reader got, the oldest of a page first, and updates `known`. A revision
 * below the known one differs, too: Redis may have lost the last commits, and the end of a question may have a revision
 * that was sent before. A terminal row is left out only where the reader does not know the elicitation as open.
 */
function* changes(known: KnownRevisions, { rows, now }: InboxReading): Generator<InboxItem> {
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

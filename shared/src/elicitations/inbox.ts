import type { Elicitation } from '../domain/elicitations/elicitation.ts';
import { type Row, toWire } from '../domain/elicitations/row.ts';
import { isTerminal, OPEN_STATUSES } from '../domain/elicitations/status.ts';
import type { ElicitationEventName } from '../domain/events.ts';
import type { Owner } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import { ifAvailable, retryPauseMs } from './retry-while-unavailable.ts';
import { WakeSignal } from './wake-signal.ts';

/** One thing to tell a reader of an inbox. */
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

/** Follows what waits for one person: a snapshot first, newest first, then every change of it, from any pod. */
export async function* watchInbox(
  deps: EngineDeps,
  { owner, signal }: InboxInput,
): AsyncGenerator<InboxItem, void> {
  const wakeSignal = new WakeSignal(signal);
  const touched = new Set<string>();
  let stale = false;
  const subscription = deps.inboxWakes.subscribe({ tenant: owner.tenant, userId: owner.userId }, (told) => {
    if (told.type === 'event') touched.add(told.event.elicitationId);
    else stale = true;
    wakeSignal.notify();
  });
  /** Revision last told, by elicitation id. */
  let known: Map<string, number> | undefined;
  try {
    for (;;) {
      const ids = known === undefined || stale ? undefined : [...touched];
      stale = false;
      touched.clear();
      const read = await ifAvailable(() => readInbox(deps, owner, known, ids));
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
      }
      const heard = await wakeSignal.wait(
        performance.now() + (read === undefined ? retryPauseMs() : deps.settings.recheckMs),
      );
      if (heard === 'time') stale = true;
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

interface InboxReading {
  readonly rows: readonly Row[];
  readonly now: number;
}

/** The named rows; or, when none are named, all that are open and all that were known. */
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
  return { rows: [...open.rows, ...ended.rows], now: open.now };
}

async function readRows(deps: EngineDeps, ids: readonly string[]): Promise<InboxReading> {
  if (ids.length === 0) return { rows: [], now: 0 };
  const { rows, now } = await deps.elicitations.readMany(ids);
  return { rows: rows.filter((row) => row !== undefined), now };
}

async function readOpen(deps: EngineDeps, owner: Owner): Promise<InboxReading> {
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

/** Tells each row that is newer than what was told of it, oldest first, and keeps `known` in step. */
function* changes(known: Map<string, number>, { rows, now }: InboxReading): Generator<InboxItem> {
  for (const row of [...rows].sort((a, b) => a.createdAt - b.createdAt)) {
    const told = known.get(row.id);
    if (told !== undefined && told >= row.revision) continue;
    if (isTerminal(row.status)) known.delete(row.id);
    else known.set(row.id, row.revision);
    if (told === undefined && isTerminal(row.status)) continue;
    yield {
      type: 'change',
      event: eventOf(row, told),
      elicitation: wire(row, now),
    };
  }
}

function eventOf(row: Row, told: number | undefined): ElicitationEventName {
  if (isTerminal(row.status)) return 'elicitation-resolved';
  return told === undefined ? 'elicitation-request' : 'elicitation-updated';
}

function wire(row: Row, now: number): Elicitation {
  return toWire(row, { now, content: false });
}

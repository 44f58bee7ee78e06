import { isTerminal } from '@parley/shared/domain/elicitations/status';
import type { Elicitation } from '../elicitation.ts';
import type { Connection, ElicitationServer } from '../server/type.ts';
import { countWaiting, dropClosed, endLine, type InboxLine, markUnknown, merge } from './lines.ts';

/** How long a closed line is shown, in ms. */
const CLOSED_SHOWN_MS = 6_000;
/** How often closed lines are checked, in ms. */
const CLOSED_CHECK_MS = 1_000;
/** A nearer deadline is shown in seconds, see `countdown` of the strings. */
const IN_SECONDS_MS = 10 * 60_000;
const SECOND_MS = 1_000;
/** Ages and other deadlines are shown in minutes. */
const MINUTES_REFRESH_MS = 15_000;

/** A change of the list. */
export interface ListUpdate {
  /** New questions; those of the first list do not count. */
  readonly arrived?: readonly Elicitation[];
  /** The question that ended, with its terminal status. */
  readonly ended?: Elicitation;
  /** The new state of the connection. */
  readonly connection?: Connection;
}

export interface InboxListOptions {
  readonly server: Pick<ElicitationServer, 'now' | 'read' | 'followInbox'>;
  /** Whether the person is using this line, so that it must stay. */
  isInUse(elicitationId: string): boolean;
  /** Called on every change, and when a shown time has to be updated. */
  onUpdate(update: ListUpdate): void;
}

/** The open questions of one person, and for a few seconds those that have ended. */
export interface InboxList {
  /** Undefined until the first list arrives. */
  readonly lines: readonly InboxLine[] | undefined;
  readonly connection: Connection;
  /** The number of open questions; undefined until the first list arrives. */
  readonly waiting: number | undefined;
  /** Follows the server until `stop`. The lines stay when it is stopped and started again. */
  start(): void;
  stop(): void;
  /** Records how a question ended, when its card knows before the list. */
  recordEnd(ended: Pick<Elicitation, 'elicitationId' | 'status'>): void;
}

/** Follows a server's inbox. Nothing happens before `start`. */
export function createInboxList({ server, isInUse, onUpdate }: InboxListOptions): InboxList {
  let lines: readonly InboxLine[] | undefined;
  let connection: Connection = 'connecting';
  let unfollow: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStarted = false;

  function notify(update: ListUpdate): void {
    onUpdate(update);
    if (timer === undefined && isStarted && lines?.length) {
      timer = setTimeout(refresh, refreshInMs(lines));
    }
  }

  /** Closed lines are checked often, so that they disappear in time. */
  function refreshInMs(shown: readonly InboxLine[]): number {
    if (countWaiting(shown) < shown.length) return CLOSED_CHECK_MS;
    const deadlines = shown.map(({ elicitation }) => Date.parse(elicitation.expiresAt ?? ''));
    return nextChangeMs(server.now(), deadlines);
  }

  function refresh(): void {
    timer = undefined;
    lines = lines && dropClosed(lines, performance.now() - CLOSED_SHOWN_MS, isInUse);
    notify({});
  }

  function cancelRefresh(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function onOpen(open: readonly Elicitation[]): void {
    const isFirst = lines === undefined;
    const merged = merge(lines ?? [], open, performance.now());
    lines = merged.lines;
    cancelRefresh();
    notify(isFirst ? {} : { arrived: merged.arrived });
    for (const elicitationId of merged.closed) void readEnd(elicitationId);
  }

  /** Reads how a question ended: the list only shows that it is no longer open. */
  async function readEnd(elicitationId: string): Promise<void> {
    try {
      recordEnd(await server.read(elicitationId));
    } catch {
      lines = markUnknown(lines ?? [], elicitationId);
      notify({});
    }
  }

  function recordEnd(ended: Pick<Elicitation, 'elicitationId' | 'status'>): void {
    const known = lines?.find(({ elicitation }) => elicitation.elicitationId === ended.elicitationId);
    if (known === undefined || isTerminal(known.elicitation.status) || !isTerminal(ended.status)) return;
    lines = endLine(lines ?? [], ended, performance.now());
    cancelRefresh();
    notify({ ended: { ...known.elicitation, ...ended } });
  }

  return {
    get lines() {
      return lines;
    },
    get connection() {
      return connection;
    },
    get waiting() {
      return lines && countWaiting(lines);
    },
    start() {
      isStarted = true;
      unfollow ??= server.followInbox(onOpen, (state) => {
        connection = state;
        notify({ connection: state });
      });
    },
    stop() {
      isStarted = false;
      unfollow?.();
      unfollow = undefined;
      cancelRefresh();
    },
    recordEnd,
  };
}

/** When the shown times have to be updated, in ms from `now`. `now` and the deadlines are on the same clock. */
export function nextChangeMs(now: number, deadlines: readonly number[]): number {
  const remaining = deadlines.map((deadline) => deadline - now).filter((ms) => ms > 0);
  if (remaining.some((ms) => ms <= IN_SECONDS_MS)) return SECOND_MS;
  // A deadline that will be shown in seconds within that time must not be late.
  const untilInSeconds = remaining.map((ms) => ms - IN_SECONDS_MS);
  return Math.max(SECOND_MS, Math.min(MINUTES_REFRESH_MS, ...untilInSeconds));
}

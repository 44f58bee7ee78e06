/**
 * Follows one kind of open records and keeps ended ones in the list for a moment. Changes of lines are in `lines.ts`, and
 * rendering is in `view.ts`.
 */

import type { Connection } from '../server/type.ts';
import {
  countWaiting,
  dropClosed,
  type EndedRecord,
  endLine,
  type InboxLine,
  type InboxRecord,
  type LineKind,
  markUnknown,
  merge,
} from './lines.ts';

/** How long a closed line is shown, in ms. */
const CLOSED_SHOWN_MS = 6_000;
/** How often closed lines are checked, in ms. */
const CLOSED_CHECK_MS = 1_000;
/** Below this time, a deadline is shown in seconds; see `countdown` of the strings. */
const IN_SECONDS_MS = 10 * 60_000;
const SECOND_MS = 1_000;
/** Ages and later deadlines are shown in minutes, and are updated at this interval. */
const MINUTES_REFRESH_MS = 15_000;

/** A change of the list. */
export interface ListUpdate<Item extends InboxRecord> {
  /** New records, except those of the first list. */
  readonly arrived?: readonly Item[];
  /** The record that ended, with its terminal status. */
  readonly ended?: Item;
  /** The new state of the connection. */
  readonly connection?: Connection;
}

export interface InboxListOptions<Item extends InboxRecord> extends LineKind<Item> {
  /** The time on the server's clock, in ms since 1970. */
  now(): number;
  read(id: string): Promise<Item>;
  /** Follows the open records, like the methods of the server object. */
  follow(onOpen: (open: readonly Item[]) => void, onConnection: (state: Connection) => void): () => void;
  /** Whether the person is using this line, so that it must stay. */
  isInUse(id: string): boolean;
  /** Called on every change, and when a displayed time must be updated. */
  onUpdate(update: ListUpdate<Item>): void;
}

/** The open records of one person, and for a few seconds those that have ended. */
export interface InboxList<Item extends InboxRecord> {
  /** Undefined until the first list has come. */
  readonly lines: readonly InboxLine<Item>[] | undefined;
  readonly connection: Connection;
  /** The number of open records; undefined until the first list has come. */
  readonly waiting: number | undefined;
  /** Follows the server until `stop`. A later start keeps the lines. */
  start(): void;
  stop(): void;
  /** Records how a record ended, if its card knows that before the list does. */
  recordEnd(ended: EndedRecord<Item>): void;
}

/** Follows a server's open records of one kind. Nothing happens before `start`. */
export function createInboxList<Item extends InboxRecord>(options: InboxListOptions<Item>): InboxList<Item> {
  const { isInUse, onUpdate } = options;
  let lines: readonly InboxLine<Item>[] | undefined;
  let connection: Connection = 'connecting';
  let unfollow: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStarted = false;

  function notify(update: ListUpdate<Item>): void {
    onUpdate(update);
    if (timer === undefined && isStarted && lines?.length) {
      timer = setTimeout(refresh, refreshInMs(lines));
    }
  }

  /** Closed lines are checked often, so that they disappear in time. */
  function refreshInMs(shown: readonly InboxLine<Item>[]): number {
    if (countWaiting(shown) < shown.length) return CLOSED_CHECK_MS;
    const deadlines = shown.map(({ item }) => Date.parse(item.expiresAt ?? ''));
    return nextChangeMs(options.now(), deadlines);
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

  function onOpen(open: readonly Item[]): void {
    const isFirst = lines === undefined;
    const merged = merge(options, lines ?? [], open, performance.now());
    lines = merged.lines;
    cancelRefresh();
    notify(isFirst ? {} : { arrived: merged.arrived });
    for (const id of merged.closed) void readEnd(id);
  }

  /** Reads how a record ended, because the list only shows that it is no longer open. */
  async function readEnd(id: string): Promise<void> {
    try {
      recordEnd({ id, end: await options.read(id) });
    } catch {
      lines = markUnknown(lines ?? [], id);
      notify({});
    }
  }

  function recordEnd(ended: EndedRecord<Item>): void {
    const known = lines?.find(({ id }) => id === ended.id);
    if (known === undefined || options.hasEnded(known.item) || !options.hasEnded(ended.end)) return;
    lines = endLine(options, lines ?? [], ended, performance.now());
    cancelRefresh();
    notify({ ended: { ...known.item, ...ended.end } });
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
      unfollow ??= options.follow(onOpen, (state) => {
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

/** When the displayed times must be updated, in ms from `now`. `now` and the deadlines are on the same clock. */
export function nextChangeMs(now: number, deadlines: readonly number[]): number {
  const remaining = deadlines.map((deadline) => deadline - now).filter((ms) => ms > 0);
  if (remaining.some((ms) => ms <= IN_SECONDS_MS)) return SECOND_MS;
  // A deadline that will be shown in seconds within that time needs an earlier update.
  const untilInSeconds = remaining.map((ms) => ms - IN_SECONDS_MS);
  return Math.max(SECOND_MS, Math.min(MINUTES_REFRESH_MS, ...untilInSeconds));
}

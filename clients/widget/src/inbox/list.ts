import { isTerminal } from '@parley/shared/domain/elicitations/status';
import type { Elicitation } from '../elicitation.ts';
import type { Connection, ElicitationServer } from '../server/type.ts';
import { countWaiting, drop, end, type InboxItem, lose, merge } from './items.ts';
import { stayTrueMs } from './times.ts';

/** How long the end of a question can be read before its line leaves. */
const NOTE_MS = 6_000;
const LOOK_MS = 1_000;

/** What happened to the list, for whoever shows it; all of it is optional to tell. */
export interface InboxNews {
  /** Came in while somebody was looking; what the first list holds is no arrival. */
  readonly arrived?: readonly Elicitation[];
  /** Ended, with how. */
  readonly ended?: Elicitation;
  /** How news come in has changed. */
  readonly connection?: Connection;
}

export interface InboxListOptions {
  readonly server: Pick<ElicitationServer, 'now' | 'read' | 'followInbox'>;
  /** Somebody is at this line, so it may not leave. */
  isHeld(elicitationId: string): boolean;
  /** Called on every change, and when a time that is shown may read otherwise. */
  onNews(news: InboxNews): void;
}

/** All that waits for one person, and for a few seconds what no longer does. */
export interface InboxList {
  /** Nothing until the first list came. */
  readonly items: readonly InboxItem[] | undefined;
  readonly connection: Connection;
  /** How many wait; nothing until the first list came. */
  readonly waiting: number | undefined;
  /** Follows the server until `stop`; what is known stays over a pause. */
  start(): void;
  stop(): void;
  /** Tells how a question ended, when its card knows first. */
  end(ended: Pick<Elicitation, 'elicitationId' | 'status'>): void;
}

/** Follows a server's inbox. Nothing happens before `start`. */
export function createInboxList({ server, isHeld, onNews }: InboxListOptions): InboxList {
  let items: readonly InboxItem[] | undefined;
  let connection: Connection = 'connecting';
  let unfollow: (() => void) | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStarted = false;

  function changed(news: InboxNews): void {
    onNews(news);
    if (timer === undefined && isStarted && items?.length) {
      timer = setTimeout(look, pauseMs(items));
    }
  }

  /** Something that left needs a look soon, so that it does not outstay its time. */
  function pauseMs(shown: readonly InboxItem[]): number {
    if (countWaiting(shown) < shown.length) return LOOK_MS;
    const deadlines = shown.map(({ elicitation }) => Date.parse(elicitation.expiresAt ?? ''));
    return stayTrueMs(server.now(), deadlines);
  }

  function look(): void {
    timer = undefined;
    items = items && drop(items, performance.now() - NOTE_MS, isHeld);
    changed({});
  }

  function again(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function take(open: readonly Elicitation[]): void {
    const isFirst = items === undefined;
    const merged = merge(items ?? [], open, performance.now());
    items = merged.items;
    again();
    changed(isFirst ? {} : { arrived: merged.arrived });
    for (const elicitationId of merged.left) void learnEnd(elicitationId);
  }

  /** The list says only that a question waits no longer. */
  async function learnEnd(elicitationId: string): Promise<void> {
    try {
      note(await server.read(elicitationId));
    } catch {
      items = lose(items ?? [], elicitationId);
      changed({});
    }
  }

  function note(ended: Pick<Elicitation, 'elicitationId' | 'status'>): void {
    const known = items?.find(({ elicitation }) => elicitation.elicitationId === ended.elicitationId);
    if (known === undefined || isTerminal(known.elicitation.status) || !isTerminal(ended.status)) return;
    items = end(items ?? [], ended, performance.now());
    again();
    changed({ ended: { ...known.elicitation, ...ended } });
  }

  return {
    get items() {
      return items;
    },
    get connection() {
      return connection;
    },
    get waiting() {
      return items && countWaiting(items);
    },
    start() {
      isStarted = true;
      unfollow ??= server.followInbox(take, (state) => {
        connection = state;
        changed({ connection: state });
      });
    },
    stop() {
      isStarted = false;
      unfollow?.();
      unfollow = undefined;
      again();
    },
    end: note,
  };
}

import type { Elicitation } from '../elicitation.ts';
import type { Book } from './cache.ts';
import type { Calls } from './calls.ts';
import { keepStream } from './events.ts';
import type { Page, PageEvent } from './page.ts';
import { createPauses, pause } from './pauses.ts';
import { look, lookAtOne } from './polling.ts';
import { Refusal } from './refusal.ts';

/** How long the line stays up when nobody needs it, in ms: a card that moves in the page leaves it for an instant. */
const LINGER_MS = 500;

export interface LineDeps {
  readonly calls: Calls;
  readonly book: Book;
  readonly page: Page;
  readonly pollMs: number;
  readonly hiddenMs: number;
  readonly retryMs: readonly [first: number, longest: number];
  readonly onTime: (serverTime: string | undefined) => void;
}

/** Keeps the book up to date while somebody follows something: by events, and by looking while those are not live. */
export interface Line {
  /** Somebody began to follow, this elicitation if one is named. */
  want(elicitationId?: string): void;
  /** Somebody stopped. */
  unwant(): void;
  close(): void;
}

export function createLine(deps: LineDeps): Line {
  const { calls, book, page, pollMs, retryMs, onTime } = deps;
  const life = new AbortController();
  const pauses = createPauses([pollMs, Math.max(pollMs, retryMs[1])]);
  let lookInMs = pollMs;
  let session: AbortController | undefined;
  let isLive = false;
  let looking: Promise<void> | undefined;
  let unlisten: (() => void) | undefined;
  let isAsleep = false;
  let sleepTimer: ReturnType<typeof setTimeout> | undefined;
  let lingerTimer: ReturnType<typeof setTimeout> | undefined;
  const looks = { calls, book, isLive: () => isLive };

  const isWanted = () => !life.signal.aborted && (book.hasInbox() || book.open().length > 0);

  function lookNow(): Promise<void> {
    looking ??= look(looks, life.signal)
      .then(noteLook)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  function noteLook(refusal: unknown): void {
    if (refusal === undefined) pauses.reset();
    const askedSeconds = refusal instanceof Refusal ? refusal.retryAfterSeconds : undefined;
    lookInMs = refusal === undefined ? pollMs : pauses.next(askedSeconds);
    if (!isLive && isWanted()) book.setConnection(refusal === undefined ? 'polling' : 'offline');
    settle();
  }

  function begin(): void {
    session = new AbortController();
    const { signal } = session;
    void keepStream(
      {
        calls,
        retryMs,
        onSnapshot(open) {
          isLive = true;
          for (const one of open) onTime(one.serverTime);
          const missing = book.takeAll(open);
          book.setConnection('live');
          for (const id of missing) void lookAt(id);
        },
        onChange(news: Elicitation) {
          onTime(news.serverTime);
          book.take(news);
          settle();
        },
        onLoss: () => {
          isLive = false;
        },
        onFailure() {
          isLive = false;
          void lookNow();
        },
      },
      signal,
    );
    void keepLooking(signal);
  }

  async function keepLooking(signal: AbortSignal): Promise<void> {
    for (;;) {
      await pause(lookInMs * (0.8 + Math.random() * 0.4), signal);
      if (signal.aborted) return;
      if (!isLive) await lookNow();
    }
  }

  async function lookAt(elicitationId: string): Promise<void> {
    await lookAtOne(looks, elicitationId, life.signal).then(
      () => noteLook(undefined),
      (error: unknown) => noteLook(error),
    );
  }

  function end(): void {
    session?.abort();
    session = undefined;
    isLive = false;
  }

  /** Brings the line up or down, as it is wanted now. */
  function settle(): void {
    if (isWanted()) {
      clearTimeout(lingerTimer);
      lingerTimer = undefined;
      unlisten ??= listen();
      if (!isAsleep && session === undefined) begin();
      return;
    }
    lingerTimer ??= setTimeout(hangUp, LINGER_MS);
  }

  function hangUp(): void {
    lingerTimer = undefined;
    if (isWanted()) return;
    end();
    unlisten?.();
    unlisten = undefined;
    clearTimeout(sleepTimer);
    sleepTimer = undefined;
    isAsleep = false;
    book.rest();
  }

  function listen(): () => void {
    if (page.isHidden()) onPage('hidden');
    return page.on(onPage);
  }

  function onPage(event: PageEvent): void {
    if (event === 'hidden') {
      sleepTimer ??= setTimeout(() => {
        isAsleep = true;
        end();
      }, deps.hiddenMs);
      return;
    }
    if (event === 'shown') {
      clearTimeout(sleepTimer);
      sleepTimer = undefined;
      isAsleep = false;
    } else {
      // Whether the connection is gone or back, the old one is not to be trusted.
      end();
      if (event === 'offline') book.setConnection('offline');
    }
    settle();
    void lookNow();
  }

  return {
    want(elicitationId) {
      const wasUp = session !== undefined;
      settle();
      if (elicitationId === undefined) {
        if (wasUp && !isLive) void lookNow();
        return;
      }
      const known = isLive ? book.waiting(elicitationId) : undefined;
      if (known === undefined) void lookAt(elicitationId);
      else book.take(known);
    },
    unwant: settle,
    close() {
      life.abort();
      book.close();
      clearTimeout(lingerTimer);
      lingerTimer = undefined;
      hangUp();
    },
  };
}

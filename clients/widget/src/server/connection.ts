import { createBackoff, sleep } from '@parley/core';
import type { ElicitationCache } from './cache.ts';
import type { Calls } from './calls.ts';
import type { PageEvent, PageLifecycle } from './page.ts';
import { poll, pollOne } from './polling.ts';
import { type Refusal, toRefusal } from './refusal.ts';

/** How long the connection outlives its last follower, in ms: a card that moves within the page unfollows for an instant. */
const LINGER_MS = 500;

export interface ConnectionDeps {
  readonly calls: Calls;
  readonly cache: ElicitationCache;
  readonly page: PageLifecycle;
  readonly pollMs: number;
  readonly hiddenMs: number;
  readonly retryMs: readonly [first: number, longest: number];
  readonly onTime: (serverTime: string | undefined) => void;
}

/** Keeps the cache up to date while it has followers: by the event stream, and by polling while that is not live. */
export interface ServerConnection {
  /** A follower was added; `elicitationId` is what it follows, unless it follows the inbox. */
  followed(elicitationId?: string): void;
  /** A follower was removed. */
  unfollowed(): void;
  close(): void;
}

export function createServerConnection(deps: ConnectionDeps): ServerConnection {
  const { calls, cache, page, pollMs, retryMs, onTime } = deps;
  const closing = new AbortController();
  const backoff = createBackoff({ firstDelayMs: pollMs, delayMsMax: Math.max(pollMs, retryMs[1]) });
  let nextPollMs = pollMs;
  let session: AbortController | undefined;
  let isLive = false;
  let polling: Promise<void> | undefined;
  let stopListening: (() => void) | undefined;
  let isSuspended = false;
  let suspendTimer: ReturnType<typeof setTimeout> | undefined;
  let lingerTimer: ReturnType<typeof setTimeout> | undefined;
  const pollingDeps = { calls, cache, isLive: () => isLive };

  const isNeeded = () => !closing.signal.aborted && (cache.hasInbox() || cache.openIds().length > 0);

  function pollNow(): Promise<void> {
    polling ??= poll(pollingDeps, closing.signal)
      .then(onPolled)
      .finally(() => {
        polling = undefined;
      });
    return polling;
  }

  /** A poll under way may have read what has changed since. */
  async function pollAgain(): Promise<void> {
    await polling;
    await pollNow();
  }

  function onPolled(refusal: Refusal | undefined): void {
    if (refusal === undefined) backoff.reset();
    nextPollMs = refusal === undefined ? pollMs : backoff.nextDelayMs(refusal.retryAfterSeconds);
    if (!isLive && isNeeded()) cache.setConnection(refusal === undefined ? 'polling' : 'offline');
    openOrClose();
  }

  function open(): void {
    session = new AbortController();
    const { signal } = session;
    const listener = {
      onSnapshot(open: readonly Parameters<ElicitationCache['update']>[0][]) {
        isLive = true;
        for (const { serverTime } of open) onTime(serverTime);
        const missing = cache.replaceOpen(open);
        cache.setConnection('live');
        for (const id of missing) void readNow(id);
      },
      onChange(elicitation: Parameters<ElicitationCache['update']>[0]) {
        onTime(elicitation.serverTime);
        cache.update(elicitation);
        openOrClose();
      },
      onDisconnect() {
        // After a live connection another one is tried first.
        if (!isLive) void pollNow();
        isLive = false;
      },
    };
    void calls.followInbox(listener, signal);
    void pollRegularly(signal);
  }

  async function pollRegularly(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(nextPollMs * (0.8 + Math.random() * 0.4), signal).catch(() => undefined);
      if (signal.aborted) return;
      if (!isLive) await pollNow();
    }
  }

  async function readNow(elicitationId: string): Promise<void> {
    await pollOne(pollingDeps, elicitationId, closing.signal).then(
      () => onPolled(undefined),
      (error: unknown) => onPolled(toRefusal(error)),
    );
  }

  function disconnect(): void {
    session?.abort();
    session = undefined;
    isLive = false;
  }

  /** Opens or closes the connection, depending on whether there is anything to follow. */
  function openOrClose(): void {
    if (isNeeded()) {
      clearTimeout(lingerTimer);
      lingerTimer = undefined;
      stopListening ??= listen();
      if (!isSuspended && session === undefined) open();
      return;
    }
    lingerTimer ??= setTimeout(closeUnneeded, LINGER_MS);
  }

  function closeUnneeded(): void {
    lingerTimer = undefined;
    if (isNeeded()) return;
    disconnect();
    stopListening?.();
    stopListening = undefined;
    clearTimeout(suspendTimer);
    suspendTimer = undefined;
    isSuspended = false;
    cache.suspend();
  }

  function listen(): () => void {
    if (page.isHidden()) onPage('hidden');
    return page.on(onPage);
  }

  function onPage(event: PageEvent): void {
    if (event === 'hidden') {
      suspendTimer ??= setTimeout(() => {
        isSuspended = true;
        disconnect();
      }, deps.hiddenMs);
      return;
    }
    if (event === 'shown') {
      clearTimeout(suspendTimer);
      suspendTimer = undefined;
      isSuspended = false;
    } else {
      // After either event the old connection may be dead.
      disconnect();
      if (event === 'offline') cache.setConnection('offline');
    }
    openOrClose();
    void pollAgain();
  }

  return {
    followed(elicitationId) {
      const wasOpen = session !== undefined;
      openOrClose();
      if (elicitationId === undefined) {
        if (wasOpen && !isLive) void pollNow();
        return;
      }
      const known = isLive ? cache.findOpen(elicitationId) : undefined;
      if (known === undefined) void readNow(elicitationId);
      else cache.update(known);
    },
    unfollowed: openOrClose,
    close() {
      closing.abort();
      cache.close();
      clearTimeout(lingerTimer);
      lingerTimer = undefined;
      closeUnneeded();
    },
  };
}

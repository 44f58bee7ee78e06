/**
 * Decides when the event stream is open and when polling replaces it, for all followers of a page. The stream itself is opened
 * in `calls.ts`, and reads are in `polling.ts`.
 */

import { createBackoff, sleep } from '@parley/core';
import type { Approval } from '../approval.ts';
import type { Elicitation } from '../elicitation.ts';
import type { Calls } from './calls.ts';
import type { PageEvent, PageLifecycle } from './page.ts';
import { poll, pollOne, type Source } from './polling.ts';
import { type Refusal, toRefusal } from './refusal.ts';
import type { Connection } from './type.ts';

/**
 * How long the connection stays open after its last follower, in ms, because a card that moves within the page unfollows for an
 * instant.
 */
const LINGER_MS = 500;

interface ConnectionDeps {
  readonly calls: Calls;
  readonly elicitations: Source<Elicitation>;
  readonly approvals: Source<Approval>;
  readonly page: PageLifecycle;
  readonly pollMs: number;
  readonly hiddenMs: number;
  readonly retryMs: readonly [first: number, longest: number];
  readonly onTime: (serverTime: string | undefined) => void;
}

/** Keeps the caches up to date while they have followers: by the event stream, or by polling while that is not live. */
interface ServerConnection {
  /** A follower was added. `id` is the followed record; absent for the inbox. */
  followed<Item>(source: Source<Item>, id?: string): void;
  /** A follower was removed. */
  unfollowed(): void;
  close(): void;
}

export function createServerConnection(deps: ConnectionDeps): ServerConnection {
  const { calls, elicitations, approvals, page, pollMs, retryMs, onTime } = deps;
  const caches = [elicitations.cache, approvals.cache] as const;
  const closing = new AbortController();
  const backoff = createBackoff({ firstDelayMs: pollMs, delayMsMax: Math.max(pollMs, retryMs[1]) });
  let nextPollMs = pollMs;
  let quietUntil = 0;
  let session: AbortController | undefined;
  /**
   * `returning`: a live stream was lost, and no other one was tried yet. Nothing is polled then, because that would cost the
   * other pods more than the next stream.
   */
  let stream: 'live' | 'returning' | 'lost' = 'lost';
  let polling: Promise<void> | undefined;
  let stopListening: (() => void) | undefined;
  let isSuspended = false;
  let suspendTimer: ReturnType<typeof setTimeout> | undefined;
  let lingerTimer: ReturnType<typeof setTimeout> | undefined;
  const isLive = () => stream === 'live';

  const isNeeded = () =>
    !closing.signal.aborted && caches.some((cache) => cache.hasInbox() || cache.openIds().length > 0);

  function setConnection(state: Connection): void {
    for (const cache of caches) cache.setConnection(state);
  }

  async function pollAll(): Promise<Refusal | undefined> {
    const { signal } = closing;
    const refusal = await poll(elicitations, isLive, signal);
    return refusal ?? poll(approvals, isLive, signal);
  }

  function pollNow(): Promise<void> {
    polling ??= pollAll()
      .then(onPolled)
      .finally(() => {
        polling = undefined;
      });
    return polling;
  }

  async function pollUnlessQuiet(): Promise<void> {
    if (performance.now() >= quietUntil) await pollNow();
  }

  /** Polls again after a running poll, which may have read the state before a change. */
  async function pollAgain(): Promise<void> {
    await polling;
    await pollNow();
  }

  function onPolled(refusal: Refusal | undefined): void {
    if (refusal === undefined) backoff.reset();
    nextPollMs = refusal === undefined ? pollMs : backoff.nextDelayMs(refusal.retryAfterSeconds);
    if (!isLive() && isNeeded()) setConnection(refusal === undefined ? 'polling' : 'offline');
    openOrClose();
  }

  function open(): void {
    session = new AbortController();
    const { signal } = session;
    const listener = {
      onSnapshot(openElicitations: readonly Elicitation[], openApprovals: readonly Approval[]) {
        stream = 'live';
        for (const { serverTime } of [...openElicitations, ...openApprovals]) onTime(serverTime);
        const questions = elicitations.cache.replaceOpen(openElicitations);
        const calls = approvals.cache.replaceOpen(openApprovals);
        setConnection('live');
        for (const id of questions) void readNow(elicitations, id);
        for (const id of calls) void readNow(approvals, id);
      },
      onChange(elicitation: Elicitation) {
        onTime(elicitation.serverTime);
        elicitations.cache.update(elicitation);
        openOrClose();
      },
      onApproval(approval: Approval) {
        onTime(approval.serverTime);
        approvals.cache.update(approval);
        openOrClose();
      },
      onDisconnect(retryAfterSeconds: number | undefined) {
        // After a live connection, another one is tried before polling. While the server asks for a pause, nothing is sent.
        quietUntil = performance.now() + (retryAfterSeconds ?? 0) * 1_000;
        if (!isLive()) void pollUnlessQuiet();
        stream = isLive() ? 'returning' : 'lost';
      },
    };
    void calls.followInbox(listener, signal);
    void pollRegularly(signal);
  }

  async function pollRegularly(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(nextPollMs * (0.8 + Math.random() * 0.4), signal).catch(() => undefined);
      if (signal.aborted) return;
      if (stream === 'lost') await pollUnlessQuiet();
    }
  }

  async function readNow<Item>(source: Source<Item>, id: string): Promise<void> {
    await pollOne(source, id, closing.signal).then(
      () => onPolled(undefined),
      (error: unknown) => onPolled(toRefusal(error)),
    );
  }

  function disconnect(): void {
    session?.abort();
    session = undefined;
    stream = 'lost';
  }

  /** Opens or closes the connection, depending on whether there are followers. */
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
    for (const cache of caches) cache.suspend();
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
      // After either event, the old connection may be dead.
      disconnect();
      if (event === 'offline') setConnection('offline');
    }
    openOrClose();
    void pollAgain();
  }

  return {
    followed(source, id) {
      const wasOpen = session !== undefined;
      openOrClose();
      if (id === undefined) {
        if (wasOpen && !isLive()) void pollNow();
        return;
      }
      const known = isLive() ? source.cache.findOpen(id) : undefined;
      if (known === undefined) void readNow(source, id);
      else source.cache.update(known);
    },
    unfollowed: openOrClose,
    close() {
      closing.abort();
      for (const cache of caches) cache.close();
      clearTimeout(lingerTimer);
      lingerTimer = undefined;
      closeUnneeded();
    },
  };
}

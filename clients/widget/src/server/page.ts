/** A change of the page that affects its connections. */
export type PageEvent = 'shown' | 'hidden' | 'online' | 'offline';

/** The page's visibility and network state. */
export interface PageLifecycle {
  isHidden(): boolean;
  /** Calls the listener until the returned function is called. `shown` may come twice in a row. */
  on(listener: (event: PageEvent) => void): () => void;
}

/** The lifecycle of the current page. Outside a browser the page is always shown. */
export function createPageLifecycle(): PageLifecycle {
  const { document: doc, window: win } = globalThis as { document?: Document; window?: Window };
  if (doc === undefined || win === undefined) return { isHidden: () => false, on: () => () => undefined };
  return {
    isHidden: () => doc.visibilityState === 'hidden',
    on(listener) {
      const listening = new AbortController();
      const listen = (target: EventTarget, name: string, event: () => PageEvent) =>
        target.addEventListener(name, () => listener(event()), { signal: listening.signal });
      listen(doc, 'visibilitychange', () => (doc.visibilityState === 'hidden' ? 'hidden' : 'shown'));
      listen(win, 'focus', () => 'shown');
      // A page that the back/forward cache restores has lost its connections.
      listen(win, 'pageshow', () => 'shown');
      listen(win, 'online', () => 'online');
      listen(win, 'offline', () => 'offline');
      return () => listening.abort();
    },
  };
}

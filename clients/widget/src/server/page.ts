/** What becomes of the page that matters to a connection. */
export type PageEvent = 'shown' | 'hidden' | 'online' | 'offline';

/** The page as the connection sees it. */
export interface Page {
  isHidden(): boolean;
  /** Calls the listener until the returned function is called. `shown` may come twice in a row. */
  on(listener: (event: PageEvent) => void): () => void;
}

/** The page this runs in; where there is none (Node), one that is always shown. */
export function createPage(): Page {
  const { document: doc, window: win } = globalThis as { document?: Document; window?: Window };
  if (doc === undefined || win === undefined) return { isHidden: () => false, on: () => () => undefined };
  return {
    isHidden: () => doc.visibilityState === 'hidden',
    on(listener) {
      const ear = new AbortController();
      const hear = (target: EventTarget, name: string, event: () => PageEvent) =>
        target.addEventListener(name, () => listener(event()), { signal: ear.signal });
      hear(doc, 'visibilitychange', () => (doc.visibilityState === 'hidden' ? 'hidden' : 'shown'));
      hear(win, 'focus', () => 'shown');
      // A page that comes back from the back/forward cache lost its connections.
      hear(win, 'pageshow', () => 'shown');
      hear(win, 'online', () => 'online');
      hear(win, 'offline', () => 'offline');
      return () => ear.abort();
    },
  };
}

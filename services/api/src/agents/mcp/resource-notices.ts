/** What one connection hears about resources that changed. */
export interface ResourceNotices {
  /**
   * Calls the listener with the address of each resource that changed, and with nothing where changes may have been missed.
   * Returns what ends it.
   */
  follow(listener: (uri?: string) => void): () => void;
  /** The server reports a change; without an address: changes may have been missed. */
  report(uri?: string): void;
  /** Aborted once the connection hears nothing any more. */
  readonly lost: AbortSignal;
  /** True where its server has no stream for them. */
  readonly areAbsent: boolean;
  lose(why?: 'absent'): void;
}

export function createResourceNotices(): ResourceNotices {
  const listeners = new Set<(uri?: string) => void>();
  let areAbsent = false;
  const losing = new AbortController();
  return {
    lost: losing.signal,
    get areAbsent() {
      return areAbsent;
    },
    lose(why) {
      areAbsent ||= why === 'absent';
      losing.abort();
    },
    report(uri) {
      for (const listener of listeners) listener(uri);
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The changes of resources that one connection reports. */
export interface ResourceNotices {
  /**
   * Calls the listener with the address of each changed resource, and without an address if changes may have been missed. The
   * returned function ends this.
   */
  follow(listener: (uri?: string) => void): () => void;
  /** Reports a change. Without an address, changes may have been missed. */
  report(uri?: string): void;
  /** Aborted once the connection can receive no more reports. */
  readonly lost: AbortSignal;
  /** True if the server has no stream for reports. */
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

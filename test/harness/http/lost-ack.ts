import { createRequestBoundary } from './request-boundary.ts';

const REMEMBERED = 64 * 1024;

/** A marker to watch for, armed on all connections at once: the first connection that sees it takes it. */
export type Trap = {
  take(text: string): boolean;
  /** Reports to its creator whether it led to a cut; only the first call counts. */
  finish(cut: boolean): void;
};

/** A trap for a text, or for a pattern matched against the raw bytes read as latin1. */
export function createTrap(marker: string | RegExp, finish: (cut: boolean) => void): Trap {
  const text = typeof marker === 'string' ? Buffer.from(marker).toString('latin1') : undefined;
  const pattern =
    typeof marker === 'string' ? undefined : new RegExp(marker.source, marker.flags.replace(/[gy]/g, ''));
  let armed = true;
  return {
    finish,
    take(recent) {
      const found = armed && (text === undefined ? pattern?.test(recent) === true : recent.includes(text));
      if (found) armed = false;
      return found;
    },
  };
}

/**
 * Watches what one client sends, from its first byte on. `armed` gives the trap that is set now, if any; `onSeen`
 * fires as soon as its marker came by. `feed` gives that trap when the bytes so far also end between two commands,
 * so that Redis can run all it was given.
 */
export function createLostAckWatch(
  armed: () => Trap | undefined,
  onSeen: () => void,
): { feed(chunk: Buffer): Trap | undefined } {
  const boundary = createRequestBoundary();
  let recent = '';
  let taken: Trap | undefined;
  return {
    feed(chunk) {
      boundary.feed(chunk);
      if (!taken) {
        recent = recent.slice(-REMEMBERED) + chunk.toString('latin1');
        const trap = armed();
        if (trap?.take(recent)) {
          taken = trap;
          onSeen();
        }
        if (boundary.atBoundary()) recent = '';
      }
      return boundary.atBoundary() ? taken : undefined;
    },
  };
}

import type { WebhookReply } from '../ports/delivery/webhook-sender.ts';

/** A place for one delivery, which `leave` frees with its result; or the time after which to ask again. */
export type ReceiverEntry =
  | { readonly type: 'place'; readonly leave: (reply: WebhookReply) => void }
  | { readonly type: 'full'; readonly deferInMs: number };

/** Limits the concurrent deliveries of this process to each receiver. */
export interface Receivers {
  /** Asks for a place for a delivery to the host of a URL. */
  enter(url: string): ReceiverEntry;
}

interface Known {
  underWay: number;
  slowUntil: number;
  /** Deliveries that were refused a place since the receiver was last quick. */
  refused: number;
}

const SLOW_MS = 5_000;
// Few enough that dozens of hosts may be slow, and enough to notice that one is quick again.
const SLOW_AT_ONCE = 2;
const STAYS_SLOW_MS = 60_000;
const LATER_MS = 5_000;
const LATER_MS_MAX = 300_000;
// Refused deliveries come back one after the other.
const APART_MS = 100;
const KNOWN_MAX = 1_000;

/**
 * A bulkhead for each host. A host is slow when a delivery within the last minute took five seconds (`slowMs`) or longer,
 * whatever its result. A slow host has two places, so that it does not delay deliveries to others. A quick host has no
 * limit.
 */
export function createReceivers({ slowMs = SLOW_MS }: { readonly slowMs?: number } = {}): Receivers {
  const hosts = new Map<string, Known>();

  function entryFor(host: string, now: number): Known {
    const known = hosts.get(host) ?? { underWay: 0, slowUntil: 0, refused: 0 };
    hosts.set(host, known);
    if (hosts.size > KNOWN_MAX) {
      for (const [each, { underWay, slowUntil }] of hosts)
        if (underWay === 0 && slowUntil <= now && each !== host) hosts.delete(each);
    }
    return known;
  }

  return {
    enter(url) {
      const enteredAt = performance.now();
      const known = entryFor(URL.canParse(url) ? new URL(url).host : '', enteredAt);
      if (known.slowUntil > enteredAt && known.underWay >= SLOW_AT_ONCE) {
        known.refused += 1;
        const deferInMs = Math.min(LATER_MS_MAX, Math.max(LATER_MS, known.refused * APART_MS));
        return { type: 'full', deferInMs };
      }
      known.underWay += 1;
      const leave = ({ type }: WebhookReply) => {
        const now = performance.now();
        known.underWay -= 1;
        if (now - enteredAt >= slowMs) known.slowUntil = now + STAYS_SLOW_MS;
        else if (type === 'replied') {
          known.slowUntil = 0;
          known.refused = 0;
        }
      };
      return { type: 'place', leave };
    },
  };
}

import type { WebhookReply } from '../ports/delivery/webhook-sender.ts';

/** Where a delivery to a receiver goes: it has a place, to be left with what came of it; or it has to come back later. */
export type Entry =
  | { readonly type: 'place'; readonly leave: (reply: WebhookReply) => void }
  | { readonly type: 'full'; readonly deferInMs: number };

/** The receivers of webhooks as this process knows them. */
export interface Receivers {
  /** Asks for a place for a delivery to the host of a URL. */
  enter(url: string): Entry;
}

interface Known {
  underWay: number;
  slowUntil: number;
  /** How many were sent away since it was last quick. */
  refused: number;
}

const SLOW_MS = 5_000;
// Few enough that dozens of hosts may be slow, enough to notice one that is quick again.
const SLOW_AT_ONCE = 2;
const STAYS_SLOW_MS = 60_000;
const LATER_MS = 5_000;
const LATER_MS_MAX = 300_000;
// Whoever is sent away comes back one after the other, however many they are.
const APART_MS = 100;
const KNOWN_MAX = 1_000;

/**
 * A bulkhead per host: one that took five seconds (`slowMs`) over a delivery within the last minute, whatever came of
 * it, has two places, so that it does not keep the others' deliveries waiting. One that is quick is not limited.
 */
export function createReceivers({ slowMs = SLOW_MS }: { readonly slowMs?: number } = {}): Receivers {
  const hosts = new Map<string, Known>();

  function knownOf(host: string, now: number): Known {
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
      const known = knownOf(URL.canParse(url) ? new URL(url).host : '', enteredAt);
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

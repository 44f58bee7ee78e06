import type { WebhookReply } from '../ports/webhook-sender.ts';

/** Gives a place back, with what came of the delivery. */
export type LeaveReceiver = (reply: WebhookReply) => void;

/** The receivers of webhooks as this process knows them. */
export interface Receivers {
  /** A place for a delivery to the host of a URL; none while the host hangs and has as many as such a host may have. */
  enter(url: string): LeaveReceiver | undefined;
}

interface Known {
  underWay: number;
  hangsUntil: number;
}

// Few enough that dozens of hosts may hang, enough to notice one that is back.
const HANGING_AT_ONCE = 2;
const HANGS_MS = 60_000;
const KNOWN_MAX = 1_000;

/**
 * A bulkhead per host: one that let a delivery time out within the last minute holds at most two places, so that it
 * does not keep the others' deliveries waiting. One that answers is not limited.
 */
export function createReceivers(): Receivers {
  const hosts = new Map<string, Known>();

  function forgetOld(now: number): void {
    if (hosts.size < KNOWN_MAX) return;
    for (const [host, { underWay, hangsUntil }] of hosts)
      if (underWay === 0 && hangsUntil <= now) hosts.delete(host);
  }

  return {
    enter(url) {
      const host = URL.canParse(url) ? new URL(url).host : '';
      const now = performance.now();
      forgetOld(now);
      const known = hosts.get(host) ?? { underWay: 0, hangsUntil: 0 };
      if (known.hangsUntil > now && known.underWay >= HANGING_AT_ONCE) return undefined;
      known.underWay += 1;
      hosts.set(host, known);
      return (reply) => {
        known.underWay -= 1;
        if (reply.type === 'replied') known.hangsUntil = 0;
        else if (reply.fault === 'timeout') known.hangsUntil = performance.now() + HANGS_MS;
      };
    },
  };
}

/**
 * Keeps slow or hanging receivers from using up all delivery places of a process. It knows hosts and durations only; what is
 * delivered, and the retries, are not its business.
 */

/** A place for one delivery, or the time after which to ask again. */
type ReceiverEntry =
  | ({ readonly type: 'place' } & ReceiverPlace)
  | { readonly type: 'full'; readonly deferInMs: number };

export interface ReceiverPlace {
  /**
   * Makes one call of this delivery and measures how fast the receiver replies. `hasReplied` tells whether the result was a
   * reply at all, of whatever kind.
   */
  call<Reply>(send: () => Promise<Reply>, hasReplied: (reply: Reply) => boolean): Promise<Reply>;
  /** Frees the place. */
  leave(): void;
}

/** Shares the delivery places of this process among tenants, and among the receivers of each tenant. */
export interface Receivers {
  /** Asks for a place for a delivery of a tenant to the host of a URL. */
  enter(tenant: string, url: string): ReceiverEntry;
}

/** A tenant, or one of its receivers. */
interface Known {
  underWay: number;
  /** How fast its last conclusive delivery was. */
  pace: 'unknown' | 'quick' | 'slow';
  /** Number of deliveries that got no place since the last quick delivery. */
  refused: number;
}

/** The maximum of simultaneous deliveries of one process, of all kinds together. */
export const RECEIVER_PLACES = 48;

const SLOW_MS = 5_000;
// Two calls are enough to find out that a host is quick, and few enough that a tenant's share serves a dozen hosts that hang.
const UNTIL_QUICK_AT_ONCE = 2;
const KNOWN_MAX = 1_000;

/** When refused deliveries may try again, in ms: the first one after `first`, each further one `apart` later. */
interface Deferral {
  readonly first: number;
  readonly apart: number;
}
// The deliveries that hold the places may end at any moment.
const SOON: Deferral = { first: 500, apart: 2 };
const LATER: Deferral = { first: 5_000, apart: 100 };
const DEFER_MS_MAX = 300_000;

/**
 * Bulkheads for each tenant, and for each host of a tenant. A host has two places until it has replied within five seconds
 * (`slowMs`), and has only two again after a slower delivery, whatever the result. A quick host has no limit of its own. A
 * tenant may use half of the places that other tenants leave free, so that some always remain for one more tenant. Each tenant
 * has its own knowledge of a host, because a tenant could otherwise slow the host down for others.
 */
export function createReceivers({
  slowMs = SLOW_MS,
  places = RECEIVER_PLACES,
}: {
  readonly slowMs?: number;
  readonly places?: number;
} = {}): Receivers {
  const tenants = new Map<string, Known>();
  const hosts = new Map<string, Known>();
  let underWay = 0;

  function refusalFor(tenant: Known, host: Known): ReceiverEntry | undefined {
    const others = underWay - tenant.underWay;
    if (tenant.underWay >= (places - others) / 2) return defer(tenant, SOON);
    if (host.pace === 'quick' || host.underWay < UNTIL_QUICK_AT_ONCE) return undefined;
    return defer(host, host.pace === 'slow' ? LATER : SOON);
  }

  return {
    enter(tenantId, url) {
      const name = JSON.stringify([tenantId, URL.canParse(url) ? new URL(url).host : '']);
      const tenant = entryIn(tenants, tenantId);
      const host = entryIn(hosts, name);
      const refusal = refusalFor(tenant, host);
      if (refusal !== undefined) return refusal;
      const count = (change: number) => {
        underWay += change;
        tenant.underWay += change;
        host.underWay += change;
      };
      count(1);
      return {
        type: 'place',
        async call(send, hasReplied) {
          const calledAt = performance.now();
          const reply = await send();
          if (performance.now() - calledAt >= slowMs) host.pace = 'slow';
          else if (hasReplied(reply)) {
            host.pace = 'quick';
            host.refused = 0;
            tenant.refused = 0;
          }
          return reply;
        },
        leave: () => count(-1),
      };
    },
  };
}

function defer(known: Known, { first, apart }: Deferral): ReceiverEntry {
  known.refused += 1;
  return { type: 'full', deferInMs: Math.min(DEFER_MS_MAX, Math.max(first, known.refused * apart)) };
}

function entryIn(all: Map<string, Known>, name: string): Known {
  const known = all.get(name) ?? { underWay: 0, pace: 'unknown', refused: 0 };
  // Maps iterate in insertion order, so the latest used entry is moved to the end.
  all.delete(name);
  all.set(name, known);
  if (all.size > KNOWN_MAX) forgetOldest(all);
  return known;
}

/** Forgets the least recently used entry. A forgotten host has two places again, like a slow one. */
function forgetOldest(all: Map<string, Known>): void {
  for (const [name, { underWay }] of all) {
    if (all.size <= KNOWN_MAX) return;
    if (underWay === 0) all.delete(name);
  }
}

import { createServer, type Server, type Socket } from 'node:net';
import { listenOn, listenOnFreePort } from '../free-port.ts';
import { createTrap, type Trap } from '../http/lost-ack.ts';
import { createLink, type Direction, type Link } from './link.ts';

/** A TCP proxy in front of a Redis that breaks connections in the ways networks do. */
export type ChaosProxy = {
  readonly port: number;
  /** `redis://` URL of the proxy. */
  readonly url: string;
  /** RST to every connection, on both sides. New ones are fine. */
  reset(): void;
  /** While on, connecting is ECONNREFUSED; existing connections continue. */
  refuse(on: boolean): Promise<void>;
  /** Holds all bytes back, on existing and new connections, losing none. */
  stall(): void;
  /** Ends a stall. */
  resume(): void;
  /**
   * Bytes and closes vanish without a sign, on existing connections, on new ones (`fresh`), or on both. New ones
   * are still accepted: a proxy cannot leave a SYN unanswered.
   */
  blackhole(what: { existing: boolean; fresh: boolean; direction?: Direction }): void;
  /** Existing connections become half-open for good; new ones are fine. */
  killOld(): void;
  /**
   * The next request that contains `marker` reaches Redis and runs; its reply (and any other still on its way on that
   * connection) is dropped, then the client is reset: a lost ack. What the client wrote behind it in one go runs too.
   * Resolves with true after the reset, with false when `heal()`, `close()` or another call came first.
   */
  cutAfterNextRequest(marker: string | RegExp): Promise<boolean>;
  /** Calls `act` once a request contains `marker`, before any of that request reaches Redis. */
  beforeNextRequest(marker: string, act: () => void): void;
  /** New connections lead to another server, as after a change of a name in DNS; existing ones stay. */
  moveTo(targetPort: number): void;
  /** Every chunk takes this much longer, each way; order is kept. 0 ends it. */
  delay(ms: number): void;
  /** Ends every fault. A connection that lost bytes is destroyed, never resumed: its replies would be out of step. */
  heal(): Promise<void>;
  /** How many client connections are open. */
  connections(): number;
  close(): Promise<void>;
};

type Faults = {
  stalled: boolean;
  delayMs: number;
  fresh?: Direction | undefined;
  trap?: Trap | undefined;
  ambush?: { readonly marker: string; readonly act: () => void } | undefined;
};

/** Listens on a free port of 127.0.0.1 and passes everything on to `targetPort` unless a fault is set. */
export async function createChaosProxy(target: { readonly targetPort: number }): Promise<ChaosProxy> {
  let { targetPort } = target;
  const links = new Set<Link>();
  const faults: Faults = { stalled: false, delayMs: 0 };
  const gate = await createGate((client) => {
    const link = createLink({
      client,
      targetPort,
      delayMs: () => faults.delayMs,
      armedTrap: () => faults.trap,
      beforeRequest(chunk) {
        const { ambush } = faults;
        if (ambush === undefined || !chunk.includes(ambush.marker)) return;
        faults.ambush = undefined;
        ambush.act();
      },
      onGone: () => links.delete(link),
    });
    links.add(link);
    if (faults.stalled) link.stall(true);
    if (faults.fresh) link.hole(faults.fresh);
  });
  const forAll = (act: (link: Link) => void) => {
    for (const link of links) act(link);
  };
  const clearFaults = () => {
    faults.trap?.finish(false);
    const none: Faults = { stalled: false, delayMs: 0, fresh: undefined, trap: undefined, ambush: undefined };
    Object.assign(faults, none);
  };
  const stall = (on: boolean) => {
    faults.stalled = on;
    forAll((link) => link.stall(on));
  };
  const blackhole: ChaosProxy['blackhole'] = ({ existing, fresh, direction = 'both' }) => {
    faults.fresh = fresh ? direction : undefined;
    if (existing) forAll((link) => link.hole(direction));
  };
  return {
    port: gate.port,
    url: `redis://127.0.0.1:${gate.port}`,
    reset: () => forAll((link) => link.reset()),
    refuse: (on) => (on ? gate.shut() : gate.open()),
    stall: () => stall(true),
    resume: () => stall(false),
    blackhole,
    killOld: () => blackhole({ existing: true, fresh: false }),
    cutAfterNextRequest: (marker) =>
      new Promise((resolve) => {
        faults.trap?.finish(false);
        faults.trap = createTrap(marker, resolve);
      }),
    beforeNextRequest(marker, act) {
      faults.ambush = { marker, act };
    },
    moveTo(port) {
      targetPort = port;
    },
    delay(ms) {
      faults.delayMs = ms;
    },
    async heal() {
      clearFaults();
      forAll((link) => (link.wasHoled() ? link.reset() : link.stall(false)));
      await gate.open();
    },
    connections: () => [...links].filter((link) => link.isOpen()).length,
    async close() {
      clearFaults();
      await gate.shut();
      forAll((link) => link.reset());
    },
  };
}

type Gate = { readonly port: number; open(): Promise<void>; shut(): Promise<void> };

/** A listening port that can be shut, so that connecting is refused, and opened again. */
async function createGate(onClient: (client: Socket) => void): Promise<Gate> {
  const newListener = () => createServer({ allowHalfOpen: true }, onClient);
  let listener: Server | undefined = newListener();
  const port = await listenOnFreePort(listener);
  return {
    port,
    async open() {
      if (listener) return;
      listener = newListener();
      await listenOn(listener, port);
    },
    async shut() {
      // The port is released at once; the callback would wait for the connections, which live on.
      listener?.close();
      listener = undefined;
    },
  };
}

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

// Below the ports that kernels hand to outgoing connections, so that a server which was killed finds its own
// port free again; and a Redis Cluster bus, 10,000 higher, stays below them too.
const LOWEST = 12_000;
const HIGHEST = 21_999;
const TRIES = 200;
// Test files that run side by side draw from ports of their own: neither takes one that the other has just
// released, or on which the other expects no listener.
const SLICES = 4;
const [FIRST, COUNT] = sliceOf(Number(process.env.VITEST_POOL_ID ?? Number.NaN));

// One after the other from any of them on, so that none is given twice while another call is about to take it.
let next = randomInt(COUNT);

/** A TCP port on 127.0.0.1 that was free a moment ago. Another process may still win it: see `startRedis`. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await canBind(port)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${FIRST + COUNT - 1} in ${TRIES} tries`);
}

function sliceOf(worker: number): [first: number, count: number] {
  const all = HIGHEST - LOWEST + 1;
  if (!Number.isSafeInteger(worker)) return [LOWEST, all];
  const count = Math.floor(all / SLICES);
  return [LOWEST + (worker % SLICES) * count, count];
}

/** Makes `server` (TCP or HTTP) listen on 127.0.0.1 and returns its port, which it can take again after a close. */
export async function listenOnFreePort(server: Server): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const port = await freePort();
    try {
      await listenOn(server, port);
      return port;
    } catch (error) {
      if (attempt > 5) throw error;
    }
  }
}

/** Makes `server` listen on 127.0.0.1:`port`; rejects with the system error when that port is taken. */
export function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function canBind(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await listenOn(probe, port);
  } catch {
    return false;
  }
  await new Promise((resolve) => probe.close(resolve));
  return true;
}

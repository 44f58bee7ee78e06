import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Machine } from './machine.ts';
import type { ProcessTree } from './process-tree.ts';

/** How much of one core a file takes that no run has measured yet. */
const SHARE_UNKNOWN = 0.7;
/** Files may take so many cores for each that there is, because each of them waits at times. */
const FULL = 1.3;
/** Processes that want a core, for each core. With more of them, files only get slower. */
const QUEUE_MAX = 2;
const SAMPLE_MS = 500;

export interface Gate {
  /** Where the setup file of each test file asks: `test/harness/begin-file.ts`. */
  readonly url: string;
  close(): Promise<void>;
}

interface Waiting {
  readonly share: number;
  readonly open: () => void;
}

export interface GateOptions {
  readonly machine: Machine;
  readonly tree: ProcessTree;
  /** Cores that a file takes on average while it runs; undefined when nobody knows. */
  readonly shareOf: (file: string) => number | undefined;
}

/**
 * Lets test files begin while the machine has room for them: by the share of the cores that each took when it was
 * measured, and by how many processes want a core now. Files wait in the order in which they came. At least one runs.
 */
export async function openGate({ machine, tree, shareOf }: GateOptions): Promise<Gate> {
  const { cores } = machine;
  const running = new Map<number, number>();
  const waiting: Waiting[] = [];
  let wanting = 0;

  function admit(): void {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const taken = [...running.values()].reduce((sum, share) => sum + share, 0);
      const hasRoom = taken + first.share <= cores * FULL && wanting <= cores * QUEUE_MAX;
      if (running.size > 0 && !hasRoom) return;
      waiting.shift();
      first.open();
    }
  }

  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { pid, file } = JSON.parse(Buffer.concat(parts).toString()) as { pid: number; file: string };
    // Whichever file the process had before has ended, also where its end was never told.
    running.delete(pid);
    if (request.url === '/end') {
      response.end();
    } else {
      const share = Math.min(cores, shareOf(file) ?? SHARE_UNKNOWN);
      waiting.push({
        share,
        open() {
          running.set(pid, share);
          tree.assign(pid, file);
          response.end();
        },
      });
    }
    admit();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sampling = setInterval(() => {
    wanting = tree.sample();
    for (const pid of running.keys()) if (!isAlive(pid)) running.delete(pid);
    admit();
  }, SAMPLE_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      clearInterval(sampling);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

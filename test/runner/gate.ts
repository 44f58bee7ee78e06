import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Machine } from './machine.ts';
import type { ProcessTree } from './process-tree.ts';

/** The share of one core that a file is given which no run has measured yet. */
const SHARE_UNKNOWN = 0.7;
/** The shares of the running files may add up to this much for each core, because every file waits at times. */
const FULL = 1.3;
/** No file begins while more processes than this, for each core, want one: all files would only become slower. */
const QUEUE_MAX = 2;
const LOOK_MS = 500;

export interface Gate {
  /** Where the setup file of each test file asks: `test/harness/begin-file.ts`. */
  readonly url: string;
  /** Seconds from the moment at which each file was let in until its end, its set-up included. */
  walls(): ReadonlyMap<string, number>;
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
  const running = new Map<
    number,
    { readonly file: string; readonly share: number; readonly since: number }
  >();
  const walls = new Map<string, number>();
  const waiting: Waiting[] = [];

  function admit(): void {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const taken = [...running.values()].reduce((sum, { share }) => sum + share, 0);
      const hasRoom = taken + first.share <= cores * FULL && tree.wanting() <= cores * QUEUE_MAX;
      if (running.size > 0 && !hasRoom) return;
      waiting.shift();
      first.open();
    }
  }

  function end(pid: number): void {
    const ended = running.get(pid);
    if (ended !== undefined) walls.set(ended.file, (performance.now() - ended.since) / 1_000);
    running.delete(pid);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { pid, file } = JSON.parse(Buffer.concat(parts).toString()) as { pid: number; file: string };
    // Whichever file the process had before has ended, also where its end was never told.
    end(pid);
    if (request.url === '/end') {
      response.end();
    } else {
      const share = Math.min(cores, shareOf(file) ?? SHARE_UNKNOWN);
      waiting.push({
        share,
        open() {
          running.set(pid, { file, share, since: performance.now() });
          tree.assign(pid, file);
          response.end();
        },
      });
    }
    admit();
  }

  // A worker that is killed while it asks gets no answer.
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const looking = setInterval(() => {
    for (const pid of running.keys()) if (!isAlive(pid)) end(pid);
    admit();
  }, LOOK_MS);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    walls: () => walls,
    async close() {
      clearInterval(looking);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Processes of other users may not be signalled.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { listenOnFreePort } from '../harness/free-port.ts';
import { callTools, type Given } from './client.ts';
import { openKitPages } from './pages.ts';

const STARTED_BY_KIT = fileURLToPath(new URL('./started-by-kit.sh', import.meta.url));

/** The client under test, in this process. */
export interface ClientHost {
  /** What the kit starts for each scenario. */
  readonly command: string;
  close(): Promise<void>;
}

/**
 * Runs the client of every scenario in this process, as a pod does. The kit starts a process for each scenario; loading the
 * client in each of them would take longer than all calls together.
 */
export async function startClientHost(): Promise<ClientHost> {
  const pages = await openKitPages();
  let scenarios = 0;
  const server = createServer((socket) => {
    scenarios += 1;
    const id = `kit-${scenarios}`;
    void serveScenario(socket, (given) => callTools(pages, id, given));
  });
  const port = await listenOnFreePort(server);
  return {
    command: `bash ${STARTED_BY_KIT} ${port}`,
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await pages.close();
    },
  };
}

/** Reads the four lines of one process of the kit, and writes two: its exit code and its words. */
async function serveScenario(socket: Socket, call: (given: Given) => Promise<string[]>): Promise<void> {
  const given: string[] = [];
  for await (const line of createInterface({ input: socket })) if (given.push(line) === 4) break;
  const [url = '', scenario = '', version = '', context = ''] = given;
  const ended = await call({ url, scenario, version, context }).then(
    (types) => [0, JSON.stringify(types)],
    (error: unknown) => [1, JSON.stringify(String(error))],
  );
  socket.end(`${ended.join('\n')}\n`);
}

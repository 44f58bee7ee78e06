import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { listenOnFreePort } from '../harness/free-port.ts';
import { callTools, type Given } from './client.ts';

const STARTED_BY_KIT = fileURLToPath(new URL('./started-by-kit.cjs', import.meta.url));

/** How the client under test ended. */
interface Ended {
  readonly code: number;
  readonly text: string;
}

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
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const given = JSON.parse(Buffer.concat(chunks).toString()) as Given;
    const ended = await callTools(given).then(
      (types): Ended => ({ code: 0, text: `${JSON.stringify(types)}\n` }),
      (error: unknown): Ended => ({ code: 1, text: `${String(error)}\n` }),
    );
    response.end(JSON.stringify(ended));
  });
  const port = await listenOnFreePort(server);
  return {
    command: `${process.execPath} ${STARTED_BY_KIT} ${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

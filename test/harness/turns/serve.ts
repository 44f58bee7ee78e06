import { createServer } from 'node:http';
import { type Drain, NO_DRAIN } from '../../../services/api/src/http/life/drain.ts';
import { createHeartbeats } from '../../../services/api/src/http/life/heartbeats.ts';
import type { Surface } from '../../../services/api/src/http/route.ts';
import { createServe, type ServeDeps } from '../../../services/api/src/http/serve.ts';
import { createApp } from '../../../services/api/src/wiring/app.ts';
import { listenOnFreePort } from '../free-port.ts';

export interface ServedSurfaces
  extends Pick<ServeDeps, 'authenticate' | 'limits'>,
    Partial<Omit<ServeDeps, 'authenticate' | 'limits' | 'sse'>> {
  readonly surfaces: readonly Surface[];
  readonly corsOrigins?: readonly string[];
  readonly drain?: Drain;
}

/** Serves surfaces on loopback as a pod does. */
export async function serveSurfaces({
  surfaces,
  corsOrigins = [],
  drain = NO_DRAIN,
  ...deps
}: ServedSurfaces) {
  const serve = createServe({
    bodyBytesMax: 262_144,
    messagesBytesMax: 4_194_304,
    sse: {
      heartbeats: createHeartbeats(15_000),
      slowReaderMs: 30_000,
      drain,
    },
    onDone: () => undefined,
    onFault: () => undefined,
    onStream: () => undefined,
    ...deps,
  });
  const server = createServer(createApp({ serve, surfaces, corsOrigins, version: 'test' }));
  const port = await listenOnFreePort(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node';
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import { listenOn, listenOnFreePort } from '../../test/harness/free-port.ts';

/** Answers one request. `cut` breaks its connection, and the answer is then discarded. */
export type Serve = (request: Request, cut: () => void) => Promise<Response>;

/** An HTTP server on 127.0.0.1. */
interface LocalServer {
  /** Stops at once and cuts open requests. */
  stop(): Promise<void>;
}

/** Serves on 127.0.0.1, only for callers on this machine. `serveAt` gets the server's origin. */
export async function startLocalServer(
  serveAt: (origin: string) => Serve,
  port?: number,
): Promise<LocalServer> {
  let serve: Serve = async () => new Response(null, { status: 503 });
  const server = createServer((req, res) => {
    const fetch = (request: Request) =>
      Promise.resolve(refusalOfStrangers(request) ?? serve(request, () => res.destroy()));
    // Node's own type differs only in `method?: string | undefined`.
    toNodeHandler({ fetch })(req as NodeIncomingMessageLike, res).catch(() => res.destroy());
  });
  if (port !== undefined) await listenOn(server, port);
  serve = serveAt(`http://127.0.0.1:${port ?? (await listenOnFreePort(server))}`);
  let stopped: Promise<void> | undefined;
  return {
    stop() {
      stopped ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return stopped;
    },
  };
}

/** The JSON in a request's body; undefined if there is none. The body stays readable. */
export async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.clone().json();
  } catch {
    return undefined;
  }
}

/** Resolves when the caller has disconnected. */
export async function untilLeft({ signal }: Request): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

// A page in a browser must not reach a server on loopback through its own host name.
function refusalOfStrangers(request: Request): Response | undefined {
  return (
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  );
}

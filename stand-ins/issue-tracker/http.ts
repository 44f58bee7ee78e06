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

/** Answers one request; `cut` breaks its connection, and whatever is answered then goes nowhere. */
export type Serve = (request: Request, cut: () => void) => Promise<Response>;

/** An HTTP server on 127.0.0.1. */
interface LocalServer {
  /** Stops at once; open requests are cut. */
  stop(): Promise<void>;
}

/** Serves on 127.0.0.1, for callers on this machine only; `serveAt` gets the origin that was listened at. */
export async function startLocalServer(
  serveAt: (origin: string) => Serve,
  port?: number,
): Promise<LocalServer> {
  let serve: Serve = async () => new Response(null, { status: 503 });
  const server = createServer((req, res) => {
    const fetch = (request: Request) =>
      Promise.resolve(refusalOfStrangers(request) ?? serve(request, () => res.destroy()));
    // Node's own type differs from that one in `method?: string | undefined` alone.
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

/** The JSON in a request's body, which stays readable; nothing when there is none. */
export async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.clone().json();
  } catch {
    return undefined;
  }
}

/** Resolves when the caller is gone. */
export async function untilLeft({ signal }: Request): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

// A page in a browser may not reach a server on loopback by a name of its own.
function refusalOfStrangers(request: Request): Response | undefined {
  return (
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins())
  );
}

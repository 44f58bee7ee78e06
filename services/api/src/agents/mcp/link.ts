import {
  Client,
  type Implementation,
  type JsonSchemaValidator,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { createScrub } from './calls/scrub.ts';
import type { McpLimits } from './limits.ts';
import type { McpCredential, McpServerConfig } from './server-config.ts';
import type { ChildGuard } from './transports/child-guard.ts';
import { type Exchanges, orFailed, startExchange } from './transports/exchange.ts';
import { createHttpTransport } from './transports/http-transport.ts';
import { createStderrReader } from './transports/stderr.ts';
import { createStdioTransport } from './transports/stdio-transport.ts';

/** One live connection to a server, for one credential. */
export interface Link {
  readonly client: Client;
  /** Whether arguments may have to be mirrored in headers (2026-07-28 over HTTP). */
  readonly mirrorsParams: boolean;
  /** Whether `error` says that the server forgot this connection's session, and did nothing. */
  isExpired(error: unknown): boolean;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** What links are made with. */
export interface LinkDeps {
  readonly clientInfo: Implementation;
  readonly limits: McpLimits;
  readonly exchanges: Exchanges;
  readonly guard: ChildGuard;
  readonly onStderr: (serverId: string, line: string) => void;
}

export interface LinkOrder {
  readonly config: McpServerConfig;
  readonly credential?: McpCredential | undefined;
  /** Gives the attempt up. */
  readonly signal: AbortSignal;
  /** The child is known to end when it is asked for the newer revision. */
  readonly isLegacy: boolean;
  /** It ended, by itself or by `close`. */
  readonly onClosed: () => void;
  readonly onToolsChanged: () => void;
}

const END_SESSION_MS = 1_000;
// A child that stays silent when asked for the newer revision is of the older one.
const PROBE_SHARE = 0.5;

/** Reaches a server and shakes hands; throws what failed, with nothing left behind. */
export async function openLink(deps: LinkDeps, order: LinkOrder): Promise<Link> {
  const { limits, exchanges } = deps;
  const { config, signal } = order;
  const isHttp = config.transport.type === 'http';
  const { transport, endSession } = transportOf(deps, order);
  const client = createClient(deps, order, isHttp);
  transport.onclose = order.onClosed;

  const exchange = startExchange({ timeoutMs: limits.connectTimeoutMs, signal });
  // The SDK's own timeouts are per message, and its probe heeds no signal: an end of the transport ends all.
  exchange.signal.addEventListener('abort', () => void transport.close(), { once: true });
  try {
    const connecting = exchanges.run(exchange, () =>
      client.connect(transport, {
        timeout: limits.connectTimeoutMs,
        ...(order.isLegacy && { prior: { kind: 'legacy' } }),
      }),
    );
    await orFailed(exchange, connecting);
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw error;
  } finally {
    exchange.end();
  }
  const isModern = client.getProtocolEra() === 'modern';
  if (isModern) listen(client, limits.connectTimeoutMs);
  return {
    client,
    mirrorsParams: isHttp && isModern,
    isExpired: (error) =>
      error instanceof SdkHttpError && error.status === 404 && transport.sessionId !== undefined,
    close: async () => {
      await endSession();
      await client.close();
      await transport.close();
    },
  };
}

function createClient({ clientInfo, limits }: LinkDeps, order: LinkOrder, isHttp: boolean): Client {
  const client = new Client(clientInfo, {
    capabilities: {},
    versionNegotiation: {
      mode: 'auto',
      probe: { timeoutMs: limits.connectTimeoutMs * (isHttp ? 1 : PROBE_SHARE) },
    },
    inputRequired: { autoFulfill: false },
    // Output schemas are the server's: compiling them costs, their patterns may never end, and a result that does
    // not fit one would hide that the tool ran.
    jsonSchemaValidator: { getValidator: anything },
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => order.onToolsChanged());
  return client;
}

function anything<T>(): JsonSchemaValidator<T> {
  return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}

function transportOf(
  deps: LinkDeps,
  { config, credential }: LinkOrder,
): { transport: Transport; endSession: () => Promise<void> } {
  const { limits, exchanges, guard } = deps;
  const { messageBytesMax, killGraceMs } = limits;
  if (config.transport.type === 'stdio') {
    const onStderr = createStderrReader(createScrub(config, credential), (line) =>
      deps.onStderr(config.id, line),
    );
    const program = config.transport;
    const transport = createStdioTransport({
      program,
      messageBytesMax,
      killGraceMs,
      exchanges,
      guard,
      onStderr,
    });
    return { transport, endSession: async () => undefined };
  }
  const headers = mergeHeaders(config.transport.headers, credential?.headers);
  const transport = createHttpTransport({ url: config.transport.url, headers, messageBytesMax, exchanges });
  return { transport, endSession: () => withinEndTime(transport.endSession()) };
}

/** Later ones win, whatever their capitals: two of one name would be joined into one value. */
function mergeHeaders(
  ...all: readonly (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const entries = all.flatMap((headers) => Object.entries(headers ?? {}));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Best effort: a server that is gone must not hold up the end. */
async function withinEndTime(work: Promise<void>): Promise<void> {
  const exchange = startExchange({ timeoutMs: END_SESSION_MS });
  await orFailed(exchange, work).catch(() => undefined);
  exchange.end();
}

// In the background: a server that does not acknowledge must not hold up the connection.
function listen(client: Client, timeout: number): void {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  client.listen({ toolsListChanged: true }, { timeout }).catch(() => undefined);
}

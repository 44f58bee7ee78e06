/**
 * Opens one connection to an MCP server and completes the handshake. Choosing the revision is in `revisions/`, reusing
 * connections in `pool.ts`.
 */

import {
  Client,
  type ClientCapabilities,
  type Implementation,
  type JsonSchemaValidator,
  type Transport,
} from '@modelcontextprotocol/client';
import { APPS, PAGE_TYPE } from '@parley/shared/domain/runs/pages';
import { NoSession } from './errors.ts';
import type { McpLimits } from './limits.ts';
import type { AskableKinds } from './questions/client-ask.ts';
import { type ConnectionQuestions, createConnectionQuestions } from './questions/connection-questions.ts';
import { createResourceNotices, type ResourceNotices } from './resource-notices.ts';
import { createScrub } from './scrub.ts';
import type { McpCredential, McpRevision, McpServerConfig } from './server-config.ts';
import { createSessionCheck, type SessionFate } from './session-check.ts';
import { createTaskNotices, type TaskNotices } from './tasks/notices.ts';
import { TASKS_EXTENSION } from './tasks-extension.ts';
import type { ChildGuard } from './transports/child-guard.ts';
import { createDoor } from './transports/door.ts';
import { type Exchanges, raceAbort, startExchange } from './transports/exchange.ts';
import { createHttpTransport } from './transports/http-transport.ts';
import { createStderrReader } from './transports/stderr.ts';
import { createStdioTransport } from './transports/stdio-transport.ts';

/** One live connection to a server, for one credential. */
export interface McpConnection {
  readonly client: Client;
  readonly revision: McpRevision;
  /** Whether arguments may have to be mirrored in headers (2026-07-28 over HTTP). */
  readonly mirrorsParams: boolean;
  /** The server's reports about resources. */
  readonly notices: ResourceNotices;
  /** The server's reports about tasks. */
  readonly tasks: TaskNotices;
  /** Resolves when the server's own event stream has been requested, or after a second. */
  readonly listening: () => Promise<void>;
  /** Present if the server may ask. */
  readonly questions?: ConnectionQuestions | undefined;
  /** Determines the fate of the session, by a ping if the error does not tell. Never rejects. */
  sessionAfter(error: unknown): Promise<SessionFate>;
  /** Resolves when its session, sockets and processes are closed. */
  close(): Promise<void>;
}

/** The dependencies that all connections of a pod share. */
export interface McpConnectionDeps {
  readonly clientInfo: Implementation;
  readonly limits: McpLimits;
  readonly exchanges: Exchanges;
  readonly guard: ChildGuard;
  readonly onStderr: (serverId: string, line: string) => void;
}

export interface ConnectionOptions {
  readonly config: McpServerConfig;
  readonly credential?: McpCredential | undefined;
  /** The kinds of requests that the server may make. Absent: none. */
  readonly modes?: AskableKinds | undefined;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
  readonly revision: McpRevision;
  /** Throws `NoSession` if the server keeps no session (2025-11-25 over HTTP), because it could then not receive an answer. */
  readonly needsSession?: boolean | undefined;
  /** Called when the connection has ended, whether through `close` or not. */
  readonly onClosed: () => void;
  readonly onToolsChanged: () => void;
}

const END_SESSION_MS = 1_000;

/** Connects to a server and completes the handshake. Throws the error of a failed attempt, after cleaning up. */
export async function openConnection(
  deps: McpConnectionDeps,
  options: ConnectionOptions,
): Promise<McpConnection> {
  const { limits, exchanges } = deps;
  const { config, modes, signal, revision } = options;
  const isHttp = config.transport.type === 'http';
  const isModern = revision === '2026-07-28';
  const notices = createResourceNotices();
  const tasks = createTaskNotices();
  const { transport, endSession, listening } = createTransport(deps, options, notices);
  const { progressMs } = limits;
  const close = async () => {
    await endSession();
    await client.close();
    await transport.close();
  };
  const onEndless = () => {
    // This is called at once, so that no further call begins here.
    options.onClosed();
    close().catch(() => undefined);
  };
  const questions = modes && createConnectionQuestions({ modes, progressMs, onEndless });
  const client = createClient(deps, options, questions);
  // The SDK processes a message on a request's stream in the context of that request. Other messages are not attributed to a
  // call.
  client.setNotificationHandler('notifications/message', ({ params }) =>
    exchanges.getStore()?.onLog?.(params),
  );
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    notices.report(params.uri),
  );
  // The SDK calls this before it reads the message itself.
  transport.onmessage = tasks.hear;
  transport.onclose = () => {
    notices.lose();
    options.onClosed();
  };

  const exchange = startExchange({ timeoutMs: limits.connectTimeoutMs, signal });
  // The SDK's timeouts are per message and its probe ignores signals, so closing the transport ends the attempt.
  exchange.signal.addEventListener('abort', () => void transport.close(), { once: true });
  try {
    const connecting = exchanges.run(exchange, () =>
      client.connect(transport, { timeout: limits.connectTimeoutMs }),
    );
    await raceAbort(exchange, connecting);
    if (options.needsSession === true && transport.sessionId === undefined) throw new NoSession();
    // Many servers ask on this stream, and questions sent before it is open are lost.
    if (questions !== undefined && !isModern) await raceAbort(exchange, listening());
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw error;
  } finally {
    exchange.end();
  }
  if (isModern) listen(client, limits.connectTimeoutMs);
  return {
    client,
    revision,
    mirrorsParams: isHttp && isModern,
    notices,
    tasks,
    listening,
    questions,
    sessionAfter: createSessionCheck(
      () => transport.sessionId,
      (timeoutMs) => ping(client, exchanges, timeoutMs),
    ),
    close,
  };
}

/** The ping has its own exchange, so that its failure is not attributed to the request in question. */
async function ping(client: Client, exchanges: Exchanges, timeoutMs: number): Promise<void> {
  const exchange = startExchange({ timeoutMs });
  const { signal } = exchange;
  const pong = exchanges.run(exchange, () => client.ping({ signal, timeout: timeoutMs }));
  await raceAbort(exchange, pong).finally(exchange.end);
}

function createClient(
  { clientInfo, limits }: McpConnectionDeps,
  options: ConnectionOptions,
  questions: ConnectionQuestions | undefined,
): Client {
  const { revision } = options;
  const client = new Client(clientInfo, {
    capabilities: capabilitiesOf(options.modes, options.config, revision),
    versionNegotiation: {
      mode: revision === '2026-07-28' ? { pin: revision } : 'legacy',
      probe: { timeoutMs: limits.connectTimeoutMs },
    },
    inputRequired: { autoFulfill: false },
    // Output schemas are not validated. They come from the server, so their patterns may not terminate. An error about a
    // mismatch would also hide that the tool ran.
    jsonSchemaValidator: { getValidator: acceptAny },
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => options.onToolsChanged());
  if (questions !== undefined) {
    // This is set as the fallback handler, because a handler for the method would get parameters without `pattern` and
    // `examples`.
    client.fallbackRequestHandler = questions.onRequest;
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      questions.onComplete(params.elicitationId),
    );
  }
  return client;
}

function capabilitiesOf(
  modes: AskableKinds | undefined,
  { showsPages }: McpServerConfig,
  revision: McpRevision,
): ClientCapabilities {
  const { form = false, url = false, services: { sampling, roots } = {} } = modes ?? {};
  return {
    ...((form || url) && { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } }),
    ...(sampling !== undefined && { sampling: { ...(sampling.tools && { tools: {} }) } }),
    ...(roots === true && { roots: {} }),
    ...((showsPages === true || revision === '2026-07-28') && {
      extensions: {
        ...(showsPages && { [APPS]: { mimeTypes: [PAGE_TYPE] } }),
        // The older revision has a different kind of tasks.
        ...(revision === '2026-07-28' && { [TASKS_EXTENSION]: {} }),
      },
    }),
  };
}

function acceptAny<T>(): JsonSchemaValidator<T> {
  return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
}

function createTransport(
  deps: McpConnectionDeps,
  { config, credential }: ConnectionOptions,
  notices: ResourceNotices,
): { transport: Transport; endSession: () => Promise<void>; listening: () => Promise<void> } {
  const { limits, exchanges, guard } = deps;
  const { messageBytesMax, killGraceMs } = limits;
  const scrub = createScrub(config, credential);
  const door = createDoor(scrub);
  if (config.transport.type === 'stdio') {
    const onStderr = createStderrReader(scrub, (line) => deps.onStderr(config.id, line));
    const program = config.transport;
    const transport = createStdioTransport({
      program,
      messageBytesMax,
      killGraceMs,
      exchanges,
      guard,
      onStderr,
      door,
      onChangesDropped: () => notices.report(),
    });
    return { transport, endSession: async () => undefined, listening: async () => undefined };
  }
  const headers = mergeHeaders(config.transport.headers, credential?.headers);
  const { url } = config.transport;
  const transport = createHttpTransport({
    url,
    headers,
    proofKey: credential?.proofKey,
    messageBytesMax,
    exchanges,
    door,
    notices,
  });
  return {
    transport,
    endSession: () => withEndTimeout(transport.endSession()),
    listening: transport.listening,
  };
}

/** Later headers win, in any letter case: two headers with the same name would be joined into one value. */
function mergeHeaders(
  ...all: readonly (Readonly<Record<string, string>> | undefined)[]
): Record<string, string> {
  const entries = all.flatMap((headers) => Object.entries(headers ?? {}));
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/** Best effort: a server that does not respond must not delay the close. */
async function withEndTimeout(work: Promise<void>): Promise<void> {
  const exchange = startExchange({ timeoutMs: END_SESSION_MS });
  await raceAbort(exchange, work).catch(() => undefined);
  exchange.end();
}

// This runs in the background: a server that does not acknowledge must not delay the connection.
function listen(client: Client, timeout: number): void {
  if (client.getServerCapabilities()?.tools?.listChanged !== true) return;
  client.listen({ toolsListChanged: true }, { timeout }).catch(() => undefined);
}

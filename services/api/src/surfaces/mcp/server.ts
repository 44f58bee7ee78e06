/** Makes the SDK's server for one request, and converts errors. Handlers for calls are added in `legacy/` and `modern/`. */

import { ProtocolError, Server, type ServerContext } from '@modelcontextprotocol/server';
import { isParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { serverRefusalOf } from '../../turns/call-result.ts';
import { type Shows, supportOf } from './capabilities.ts';
import { contentCapabilities, type Guarded, type ReplyToAsking, registerContent } from './content.ts';
import type { McpDeps } from './deps.ts';
import { rpcErrorOf } from './json-rpc.ts';
import { toolsPage } from './offer.ts';

/** The supported revisions with sessions, the preferred one first. */
export const SESSION_REVISIONS = ['2025-11-25', '2025-06-18'];

/** The client of one request. */
export interface ServedClient {
  /** The capabilities of the client. */
  readonly showsOf: (context: ServerContext) => Shows;
  readonly replyToAsking: ReplyToAsking;
  /** True if the client shows servers' pages. */
  readonly apps: boolean;
}

/**
 * Makes the server of one request: its identity, and the tools that its caller may use. Each revision adds its handlers for
 * calls.
 */
export function createMcpServer(
  {
    turns,
    version,
    extend,
    onFault,
    ...deps
  }: Pick<McpDeps, 'turns' | 'version' | 'extend' | 'onFault' | 'card'>,
  caller: Caller,
  { showsOf, replyToAsking, apps }: ServedClient,
  { capabilities, ...options }: Partial<ConstructorParameters<typeof Server>[1]> = {},
): Server {
  const card = apps ? deps.card : undefined;
  const server = new Server(
    { name: 'parley', title: 'Parley', version },
    {
      instructions:
        'A tool that takes a message is an agent. Give it a task in plain words. It asks the user itself when it needs to. A result that says that a call waits for the user is not final: tell them what it says, and repeat the call afterwards.',
      ...options,
      capabilities: { tools: {}, ...contentCapabilities(turns.content, card), ...capabilities },
    },
  );
  const guarded = guardedBy(onFault);
  server.setRequestHandler('tools/list', ({ params }, context) => {
    const { signal } = context.mcpReq;
    const support = supportOf(showsOf(context));
    return guarded(signal, async () =>
      toolsPage(await turns.listOffered(caller, signal, support), params?.cursor, {
        hasCard: card !== undefined,
      }),
    );
  });
  const asking = {
    viewerOf: (context: ServerContext) => turns.viewerOf(supportOf(showsOf(context))),
    askableOf: (context: ServerContext) => turns.askableBy(supportOf(showsOf(context))),
    reply: replyToAsking,
    card,
  };
  registerContent(server, turns.content, { caller, guarded, asking });
  extend?.(server);
  return server;
}

/** Converts errors of handlers to errors of the protocol. */
export function guardedBy(onFault: McpDeps['onFault']): Guarded {
  return async (signal, run) => {
    try {
      return await run();
    } catch (error) {
      throw signal.aborted ? error : protocolErrorOf(error, onFault);
    }
  };
}

// Reports of the SDK about requests that it refuses. Clients cause these, as often as they like.
const REFUSALS = /^(?:Rejected |Unsupported Media Type|subscriptions\/listen refused)/;

/**
 * Reports failures in the SDK to the operator: the kind of error and where it arose. The error's message may quote a request,
 * so it is omitted.
 */
export function sdkFaults(onFault: McpDeps['onFault']): (error: Error) => void {
  return ({ name, message, stack = '' }) => {
    if (REFUSALS.test(message)) return;
    const fault = new Error('The SDK of MCP failed to serve a request.');
    fault.name = name;
    const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
    fault.stack = [`${name}: ${fault.message}`, ...frames].join('\n');
    onFault(fault);
  };
}

/** Converts an error for the client. An unknown error is reported to the operator and reveals nothing. */
export function protocolErrorOf(error: unknown, onFault: McpDeps['onFault']): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const refusal = serverRefusalOf(error);
  if (refusal !== undefined) return new ProtocolError(refusal.code, refusal.message, refusal.data);
  if (!isParleyError(error)) onFault(error);
  const { code, message, data } = rpcErrorOf(error);
  return new ProtocolError(code, message, data);
}

import { ProtocolError, Server, type ServerContext } from '@modelcontextprotocol/server';
import { isParleyError } from '@parley/core/domain/errors';
import type { Caller } from '@parley/shared/domain/caller';
import { serverRefusalOf } from '../../turns/call-result.ts';
import { type Shows, supportOf } from './capabilities.ts';
import { contentCapabilities, type Guarded, type ReplyToAsking, registerContent } from './content.ts';
import type { McpDeps } from './deps.ts';
import { rpcErrorOf } from './json-rpc.ts';
import { toolsPage } from './offer.ts';

/** Revisions with a session that this server speaks, the preferred one first. */
export const SESSION_REVISIONS = ['2025-11-25', '2025-06-18'];

/** The client of one request. */
export interface ServedClient {
  /** What it can show. */
  readonly showsOf: (context: ServerContext) => Shows;
  readonly replyToAsking: ReplyToAsking;
  /** Whether it shows pages of servers. */
  readonly apps: boolean;
}

/** The server of one request: what it is, and the tools that its caller may use. Calls are added by era. */
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

/** Errors of handlers become errors of the protocol. */
export function guardedBy(onFault: McpDeps['onFault']): Guarded {
  return async (signal, run) => {
    try {
      return await run();
    } catch (error) {
      throw signal.aborted ? error : protocolErrorOf(error, onFault);
    }
  };
}

// What the SDK reports when it refuses a request. Clients cause these, as often as they like.
const REFUSALS = /^(?:Rejected |Unsupported Media Type|subscriptions\/listen refused)/;

/** Reports what fails in the SDK to the operator: the kind of error and where it arose. Its message may quote a request. */
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

/** An error as its client is shown it. One that is no known error is reported to the operator, and reveals nothing. */
export function protocolErrorOf(error: unknown, onFault: McpDeps['onFault']): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const refusal = serverRefusalOf(error);
  if (refusal !== undefined) return new ProtocolError(refusal.code, refusal.message, refusal.data);
  if (!isParleyError(error)) onFault(error);
  const { code, message, data } = rpcErrorOf(error);
  return new ProtocolError(code, message, data);
}

/** The SDK of A2A in its version 0.3, which knows nothing of 1.0: a client, and an agent that asks. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import express, { type RequestHandler } from 'express';
import { listenOnFreePort } from '../free-port.ts';
import type { ServedMcp } from '../mcp-servers/serve-mcp.ts';
import { loadStack } from './packages.ts';

interface OldMessage {
  readonly parts: readonly { readonly kind: string; readonly text?: string }[];
}
export interface OldTask {
  readonly id: string;
  readonly status: { readonly state: string; readonly message?: OldMessage };
  readonly artifacts?: readonly OldMessage[];
}
/** An event of a stream: the task, or a change of its state. */
interface OldEvent {
  readonly kind: string;
  readonly status?: OldTask['status'];
}
export interface OldA2aClient {
  sendMessage(params: object): Promise<OldTask>;
  sendMessageStream(params: object): AsyncIterable<OldEvent>;
  getTask(params: { readonly id: string }): Promise<OldTask>;
  cancelTask(params: { readonly id: string }): Promise<OldTask>;
}

interface OldClientModule {
  readonly ClientFactory: new (options: object) => { createFromUrl(url: string): Promise<OldA2aClient> };
  readonly DefaultAgentCardResolver: new (options: object) => object;
  readonly JsonRpcTransportFactory: new (options: object) => object;
}

/** What it sends. */
export const oldMessage = (text: string, taskId?: string) => ({
  message: {
    kind: 'message',
    messageId: randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...(taskId !== undefined && { taskId }),
  },
});

export const oldText = (message: OldMessage | undefined) =>
  (message?.parts ?? []).map(({ text = '' }) => text).join('');

/** The client of 0.3 for the agent whose card is below that address. */
export async function openOldA2aClient(url: string, token: string): Promise<OldA2aClient> {
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } =
    await loadStack<OldClientModule>('@a2a-js/sdk/client');
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  return new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(url);
}

interface OldContext {
  readonly taskId: string;
  readonly contextId: string;
  readonly userMessage: OldMessage;
  readonly task?: object;
}
interface OldServerModule {
  readonly DefaultRequestHandler: new (card: object, store: object, executor: object) => object;
  readonly InMemoryTaskStore: new () => object;
}
interface OldExpressModule {
  agentCardHandler(options: object): RequestHandler;
  jsonRpcHandler(options: object): RequestHandler;
  readonly UserBuilder: { readonly noAuthentication: object };
}

/** Asks for a colour, and then says what it heard. */
const executor = {
  async execute(
    { taskId, contextId, userMessage, task }: OldContext,
    bus: { publish(event: object): void; finished(): void },
  ) {
    const isAnswer = task !== undefined;
    const text = isAnswer ? `Old heard ${oldText(userMessage)}.` : 'Which colour?';
    const state = isAnswer ? 'completed' : 'input-required';
    const status = {
      state,
      timestamp: new Date().toISOString(),
      message: {
        ...{ kind: 'message', messageId: randomUUID(), role: 'agent', taskId, contextId },
        parts: [{ kind: 'text', text }],
      },
    };
    if (!isAnswer) bus.publish({ kind: 'task', id: taskId, contextId, status, history: [userMessage] });
    bus.publish({ kind: 'status-update', taskId, contextId, status, final: true });
    bus.finished();
  },
  async cancelTask() {},
};

/** An agent on the server of 0.3. */
export async function startOldA2aAgent(): Promise<ServedMcp> {
  const [{ DefaultRequestHandler, InMemoryTaskStore }, { agentCardHandler, jsonRpcHandler, UserBuilder }] =
    await Promise.all([
      loadStack<OldServerModule>('@a2a-js/sdk/server'),
      loadStack<OldExpressModule>('@a2a-js/sdk/server/express'),
    ]);
  const app = express();
  const server = createServer(app);
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const card = {
    ...{ name: 'Old', description: 'Asks.', protocolVersion: '0.3.0', version: '1.0.0', url: `${url}/rpc` },
    ...{ skills: [], capabilities: { streaming: true }, defaultInputModes: ['text'] },
    ...{ defaultOutputModes: ['text'], preferredTransport: 'JSONRPC' },
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  return {
    url,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

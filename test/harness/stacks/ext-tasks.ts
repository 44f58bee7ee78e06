/** Sessions of the official client of tasks, unmodified. It leaves requests of 2026-07-28 to its host. */
import { randomUUID } from 'node:crypto';
import { calledOf } from '../mcp-clients/clients.ts';
import { readReply } from '../mcp-clients/raw.ts';
import type { StackClient, StackClientOptions } from './clients.ts';
import { loadStack } from './packages.ts';

const CLIENT_INFO = { name: 'ext-tasks', version: '1' };
const CAPABILITIES = { elicitation: { form: {} } };
const REVISION = '2026-07-28';

interface Sdk {
  readonly Client: new (
    info: object,
    options: object,
  ) => {
    connect(transport: object): Promise<void>;
    listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
    close(): Promise<void>;
  };
  readonly StreamableHTTPClientTransport: new (url: URL, options: object) => object;
}

interface ExtTasks {
  createApplicationInputHandler(callbacks: object): unknown;
  createTaskSessionFromClient(
    client: object,
    options: object,
  ): {
    callTool(name: string, input: object): Promise<{ settle(): Promise<{ readonly outcome: unknown }> }>;
    close(): Promise<void>;
  };
  resultFromTaskOutcome(outcome: unknown): object;
}

interface TaskRequest {
  readonly method: string;
  readonly params: { readonly name?: string; readonly taskId?: string };
}

export const extTasks =
  (mode: 'legacy' | { readonly pin: string }) =>
  async (options: StackClientOptions): Promise<StackClient> => {
    const { Client, StreamableHTTPClientTransport } = await loadStack<Sdk>('@modelcontextprotocol/client');
    const { createApplicationInputHandler, createTaskSessionFromClient, resultFromTaskOutcome } =
      await loadStack<ExtTasks>('@modelcontextprotocol/ext-tasks/client');
    const headers = { authorization: `Bearer ${options.token}` };
    const client = new Client(CLIENT_INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(options.url), { requestInit: { headers } }),
    );

    async function rawDispatch(request: TaskRequest, { signal }: { readonly signal?: AbortSignal } = {}) {
      const { method, params } = request;
      const reply = await fetch(options.url, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': REVISION,
          'mcp-method': method,
          'mcp-name': params.name ?? params.taskId ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), ...request }),
        ...(signal !== undefined && { signal }),
      });
      const { result, error } = (await readReply(reply)).messages.at(-1) ?? {};
      return error === undefined ? { kind: 'result', result } : { kind: 'error', error };
    }

    const framing = {
      protocolVersion: REVISION,
      clientInfo: CLIENT_INFO,
      clientCapabilities: CAPABILITIES,
    };
    const session = createTaskSessionFromClient(client, {
      endpointId: 'parley',
      ...(mode !== 'legacy' && { rawDispatch, v2RequestFraming: framing }),
      onInputRequest: createApplicationInputHandler({
        elicitation: ({ params }: { readonly params: Parameters<StackClientOptions['answer']>[0] }) =>
          options.answer(params),
      }),
    });
    return {
      listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
      async call(name, input = {}) {
        const { outcome } = await (await session.callTool(name, input)).settle();
        return calledOf(resultFromTaskOutcome(outcome));
      },
      async close() {
        await session.close();
        await client.close();
      },
    };
  };

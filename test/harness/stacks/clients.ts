/** Clients of MCP that others made, unmodified, each with the means that it has for questions. */
import type { AskedOfClient, Called, ClientAnswer } from '../mcp-clients/clients.ts';
import { calledOf } from '../mcp-clients/clients.ts';
import { paced } from '../pace.ts';
import { extTasks } from './ext-tasks.ts';
import { inspector } from './inspector.ts';
import { findInspector, loadStack } from './packages.ts';

export interface StackClient {
  listTools(): Promise<readonly string[]>;
  call(tool: string, input?: object): Promise<Called>;
  close(): Promise<void>;
}

export interface StackClientOptions {
  /** The endpoint. */
  readonly url: string;
  readonly token: string;
  readonly answer: (asked: AskedOfClient) => ClientAnswer | Promise<ClientAnswer>;
}

type Open = (options: StackClientOptions) => Promise<StackClient>;
const NAME = 'parley';
const TIMEOUT_MS = paced(300_000);
const headersOf = ({ token }: StackClientOptions) => ({ Authorization: `Bearer ${token}` });

interface AiSdk {
  readonly ElicitationRequestSchema: object;
  createMCPClient(config: object): Promise<{
    onElicitationRequest(
      schema: object,
      answer: (request: { readonly params: AskedOfClient }) => ClientAnswer | Promise<ClientAnswer>,
    ): void;
    listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
    callTool(call: object): Promise<object>;
    close(): Promise<void>;
  }>;
}

const aiSdk =
  (protocolVersionDiscovery: boolean): Open =>
  async (options) => {
    const { createMCPClient, ElicitationRequestSchema } = await loadStack<AiSdk>('@ai-sdk/mcp');
    const client = await createMCPClient({
      transport: { type: 'http', url: options.url, headers: headersOf(options) },
      capabilities: { elicitation: {} },
      protocolVersionDiscovery,
    });
    client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => options.answer(params));
    return {
      listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: async (name, input = {}) => calledOf(await client.callTool({ name, arguments: input })),
      close: () => client.close(),
    };
  };

interface Mcporter {
  createRuntime(options: object): Promise<{
    listTools(server: string): Promise<readonly { readonly name: string }[]>;
    callTool(server: string, tool: string, options: object): Promise<object>;
    close(): Promise<void>;
  }>;
}

const mcporter: Open = async (options) => {
  const { createRuntime } = await loadStack<Mcporter>('mcporter');
  const command = { kind: 'http', url: new URL(options.url), headers: headersOf(options) };
  const runtime = await createRuntime({ servers: [{ name: NAME, command }] });
  return {
    listTools: async () => (await runtime.listTools(NAME)).map(({ name }) => name),
    call: async (tool, args = {}) =>
      calledOf(await runtime.callTool(NAME, tool, { args, timeoutMs: TIMEOUT_MS })),
    close: () => runtime.close(),
  };
};

interface LangChain {
  readonly MultiServerMCPClient: new (
    config: object,
  ) => {
    getTools(): Promise<readonly { readonly name: string; invoke(input: object): Promise<unknown> }[]>;
    close(): Promise<void>;
  };
}

const langChain: Open = async (options) => {
  const { MultiServerMCPClient } = await loadStack<LangChain>('@langchain/mcp-adapters');
  const client = new MultiServerMCPClient({
    mcpServers: { [NAME]: { transport: 'http', url: options.url, headers: headersOf(options) } },
  });
  const tools = await client.getTools();
  return {
    listTools: async () => tools.map(({ name }) => name),
    async call(name, input = {}) {
      try {
        const said = await tools.find((tool) => tool.name === name)?.invoke(input);
        return typeof said === 'string' ? { text: said, isError: false } : calledOf({ content: said });
      } catch (error) {
        return { text: String(error), isError: true };
      }
    },
    close: () => client.close(),
  };
};

const INSPECTOR = findInspector();

export interface StackEntry {
  readonly open: Open;
  /** Whether it shows questions. */
  readonly asks: boolean;
  /** Each call starts a process. */
  readonly isProgram?: true;
  /** Why it cannot run here. */
  readonly notRun?: string;
}

/** By the names of their packages. */
export const STACK_CLIENTS: Readonly<Record<string, StackEntry>> = {
  '@ai-sdk/mcp (2026-07-28)': { open: aiSdk(true), asks: true },
  '@ai-sdk/mcp (2025-11-25)': { open: aiSdk(false), asks: true },
  '@modelcontextprotocol/ext-tasks (2026-07-28)': { open: extTasks({ pin: '2026-07-28' }), asks: true },
  '@modelcontextprotocol/ext-tasks (2025-11-25)': { open: extTasks('legacy'), asks: true },
  mcporter: { open: mcporter, asks: false },
  '@langchain/mcp-adapters': { open: langChain, asks: false },
  '@modelcontextprotocol/inspector': {
    open: inspector(),
    asks: false,
    isProgram: true,
    ...('notRun' in INSPECTOR && { notRun: INSPECTOR.notRun }),
  },
};

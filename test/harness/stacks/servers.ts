/** Servers of MCP that others made. The tools `hear` and `book` of each framework are ours; how `book` asks is its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { freePort } from '../free-port.ts';
import type { ServedMcp } from '../mcp-servers/serve-mcp.ts';
import { killWithParent } from '../processes/child-guard.ts';
import { waitUntil } from '../wait-until.ts';
import { loadStack, stackPath } from './packages.ts';

const INPUT = z.object({ message: z.string() });
const COLOUR = {
  message: 'Which colour?',
  requestedSchema: {
    type: 'object',
    properties: { answer: { type: 'string', title: 'Colour' } },
    required: ['answer'],
  },
} as const;

interface Input {
  readonly message: string;
}
interface Answer {
  readonly action: string;
  readonly content?: { readonly answer?: string };
}

interface FastMcp {
  readonly FastMCP: new (
    info: object,
  ) => {
    addTool(tool: {
      readonly name: string;
      readonly description: string;
      readonly parameters: object;
      execute(
        input: Input,
        context: { elicit(question: object, options: object): Promise<Answer> },
      ): Promise<string>;
    }): void;
    start(options: object): Promise<void>;
    stop(): Promise<void>;
  };
  readonly UserError: new (message: string) => Error;
}

const PATIENT = { timeout: 600_000 };
const SILENT = { debug: skip, error: skip, info: skip, log: skip, warn: skip };
function skip(): void {}

/** FastMCP for TypeScript: `elicit` of the tool's context, during the call. */
export async function startFastMcp(): Promise<ServedMcp> {
  const { FastMCP, UserError } = await loadStack<FastMcp>('fastmcp');
  const server = new FastMCP({ name: 'fast', version: '1.0.0', logger: SILENT });
  server.addTool({
    name: 'hear',
    description: 'Repeats.',
    parameters: INPUT,
    async execute({ message }) {
      if (message === 'refused') throw new UserError('Not today.');
      return `Heard ${message}.`;
    },
  });
  server.addTool({
    name: 'book',
    description: 'Books.',
    parameters: INPUT,
    async execute({ message }, { elicit }) {
      const { action, content } = await elicit(COLOUR, PATIENT);
      return `${message}: ${action} ${content?.answer ?? ''}`;
    },
  });
  const port = await freePort();
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } });
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => server.stop() };
}

interface Context {
  readonly inputResponses?: Readonly<Record<string, unknown>>;
}
interface McpUse {
  readonly MCPServer: new (
    info: object,
  ) => {
    tool(tool: object, call: (input: Input, context: Context) => Promise<unknown>): void;
    listen(port: number, options: object): Promise<{ readonly url: string }>;
    close(): Promise<void>;
  };
  readonly inputRequired: ((rounds: object) => unknown) & { elicit(question: object): unknown };
  acceptedContent(responses: unknown, key: string): Answer['content'];
}

/** mcp-use: a server of both revisions, which asks by rounds. */
export async function startMcpUse(): Promise<ServedMcp> {
  // It reports its use to its makers otherwise.
  process.env.MCP_USE_ANONYMIZED_TELEMETRY = 'false';
  const { MCPServer, inputRequired, acceptedContent } = await loadStack<McpUse>('mcp-use');
  const server = new MCPServer({ name: 'use', version: '1.0.0' });
  server.tool({ name: 'hear', description: 'Repeats.', inputSchema: INPUT }, async ({ message }) => {
    if (message === 'refused') throw new Error('Not today.');
    return { content: [{ type: 'text', text: `Heard ${message}.` }] };
  });
  server.tool(
    { name: 'book', description: 'Books.', inputSchema: INPUT },
    async ({ message }, { inputResponses }) => {
      const content = acceptedContent(inputResponses, 'colour');
      if (content === undefined)
        return inputRequired({ inputRequests: { colour: inputRequired.elicit(COLOUR) } });
      return { content: [{ type: 'text', text: `${message}: accept ${content.answer}` }] };
    },
  );
  const { url } = await server.listen(0, { host: '127.0.0.1' });
  return { url, stop: () => server.close() };
}

/** The reference server of MCP, its own program. */
export async function startEverything(): Promise<ServedMcp> {
  const port = await freePort();
  const script = stackPath('@modelcontextprotocol/server-everything/dist/index.js');
  const child = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: 'ignore',
  });
  killWithParent(child);
  const origin = new URL(`http://127.0.0.1:${port}`);
  // Any reply will do: it has no page.
  await waitUntil(() => fetch(origin), { what: 'the everything server' });
  return {
    url: `${origin}mcp`,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}

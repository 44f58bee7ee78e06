import type { Legacy, Modern } from './asking.ts';

/** The call's context for a tool of a fixture. */
export type CallContext = {
  /** The `authorization` header that the call came with. */
  authorization: string | undefined;
  /** Sends a progress notification for the call. */
  progress: (done: number, total: number) => Promise<void>;
  /** Sends a log message on the stream of the call. */
  log: (data: string) => Promise<void>;
  /** How the tool asks, in the 2025 revision and in the 2026 one. */
  legacy?: Legacy;
  modern?: Modern;
};

/** A tool as it goes over the wire. */
export type FixtureTool = {
  name: string;
  description?: string;
  inputSchema: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  [other: string]: unknown;
};

/** The tools of a server, in wire form, so that a fixture can also offer what no SDK would. */
export type Fixture = {
  /** A page of the list. */
  list: (cursor: string | undefined) => { tools: FixtureTool[]; nextCursor?: string };
  call: (name: string, args: Record<string, unknown>, context: CallContext) => Promise<unknown>;
};

const ANY = { type: 'object', properties: { text: { type: 'string' } } };

/** A tool that takes a text. */
export function anyTool(name: string, more: Partial<FixtureTool> = {}): FixtureTool {
  return { name, description: `The tool ${name}.`, inputSchema: ANY, ...more };
}

/** The tools that most tests need. */
export const everyday: Fixture = {
  list: () => ({
    tools: [
      anyTool('echo', { annotations: { title: 'Echo', readOnlyHint: true, idempotentHint: true } }),
      ...['whoami', 'fail', 'hang', 'big', 'picture', 'steps', 'unknown-to-itself'].map((name) =>
        anyTool(name),
      ),
    ],
  }),
  call: async (name, args, context) => {
    switch (name) {
      case 'echo':
        return { content: [text(String(args.text))], structuredContent: { echoed: args.text } };
      case 'whoami':
        return { content: [text(context.authorization ?? 'nobody')] };
      case 'fail':
        return { content: [text(`It failed for ${context.authorization}.`)], isError: true };
      case 'hang':
        return new Promise(() => undefined);
      case 'big':
        return { content: [text('x'.repeat(Number(args.bytes)))] };
      case 'picture':
        return {
          content: [
            text('Here:'),
            { type: 'image', mimeType: 'image/png', data: Buffer.alloc(3_000).toString('base64') },
            { type: 'resource_link', uri: 'https://example.com/a', name: 'a page' },
          ],
        };
      case 'steps':
        await context.progress(1, 2);
        await context.progress(2, 2);
        await context.log(`done for ${context.authorization}`);
        return { content: [text('done')] };
      default:
        throw new Error(`no tool ${name}`);
    }
  },
};

function text(said: string): { type: 'text'; text: string } {
  return { type: 'text', text: said };
}

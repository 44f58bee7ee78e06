import { ProtocolError } from '@modelcontextprotocol/server';
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
  content?: FixtureContent;
};

/** The prompts and resources of a server. During a read it may ask, as a tool may. */
export type FixtureContent = {
  prompts: readonly string[];
  resources: readonly string[];
  read: (
    method: 'prompts/get' | 'resources/read',
    params: Record<string, unknown>,
    context: Pick<CallContext, 'legacy' | 'modern'>,
  ) => Promise<unknown>;
};

const ANY = { type: 'object', properties: { text: { type: 'string' } } };

/** A tool that takes a text. */
export function anyTool(name: string, more: Partial<FixtureTool> = {}): FixtureTool {
  return { name, description: `The tool ${name}.`, inputSchema: ANY, ...more };
}

const text = (words: string) => ({ type: 'text' as const, text: words });

/** A result that is a text. */
export const said = (words: string) => ({ content: [text(words)] });

/** What `demands` requires of its client. */
export const DEMANDED = { requiredCapabilities: { sampling: {} } };

const CALLS: Readonly<Record<string, (args: Record<string, unknown>, context: CallContext) => unknown>> = {
  echo: (args) => ({ ...said(String(args.text)), structuredContent: { echoed: args.text } }),
  whoami: (_, { authorization }) => said(authorization ?? 'nobody'),
  fail: (_, { authorization }) => ({ ...said(`It failed for ${authorization}.`), isError: true }),
  hang: () => new Promise(() => undefined),
  big: ({ bytes }) => said('x'.repeat(Number(bytes))),
  picture: () => ({
    content: [
      text('Here:'),
      { type: 'image', mimeType: 'image/png', data: Buffer.alloc(3_000).toString('base64') },
      { type: 'resource_link', uri: 'https://example.com/a', name: 'a page' },
    ],
  }),
  demands() {
    throw new ProtocolError(-32021, 'Declare sampling.', DEMANDED);
  },
  later: () => ({ resultType: 'task', taskId: 'job', status: 'working', ttlMs: null, pollIntervalMs: 5 }),
  async steps(_, { progress, log, authorization }) {
    await progress(1, 2);
    await progress(2, 2);
    await log(`done for ${authorization}`);
    return said('done');
  },
};
const ECHO_HINTS = { title: 'Echo', readOnlyHint: true, idempotentHint: true };

/** The tools that most tests need. */
export const everyday: Fixture = {
  list: () => ({
    tools: [...Object.keys(CALLS), 'unknown-to-itself'].map((name) =>
      anyTool(name, name === 'echo' ? { annotations: ECHO_HINTS } : {}),
    ),
  }),
  call: async (name, args, context) => {
    const call = CALLS[name];
    if (call === undefined) throw new Error(`no tool ${name}`);
    return call(args, context);
  },
};

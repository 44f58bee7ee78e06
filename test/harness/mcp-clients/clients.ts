/** Official clients, unmodified, whose every request goes to a random pod. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitationCompleteNotificationSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { pickFetch } from '../http/pick-fetch.ts';
import { paced } from '../pace.ts';

export interface AskedOfClient {
  readonly mode?: string | undefined;
  readonly message: string;
  readonly url?: string | undefined;
  readonly elicitationId?: string | undefined;
  readonly requestedSchema?: unknown;
}

export type ClientAnswer = {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string | number | boolean | string[]>;
};

export interface Called {
  readonly text: string;
  readonly isError: boolean;
}

export interface CallOptions {
  readonly tool?: string;
  /** The arguments; the message alone by default. */
  readonly input?: object;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What every official client can do, in the words of the tests. */
export interface StockClient {
  /** Calls a tool with a message; `helper` by default. */
  call(message: string, options?: CallOptions): Promise<Called>;
  listTools(): Promise<readonly { readonly name: string; readonly annotations?: unknown }[]>;
  /** The elicitation ids of the completion notices so far. */
  readonly completed: readonly string[];
  readonly progress: readonly number[];
  close(): Promise<void>;
}

export interface ClientOptions {
  /** Read for each request, so that pods may be replaced. */
  readonly urls: readonly string[];
  /** A random one of `urls` by default. */
  readonly fetch?: typeof fetch;
  readonly token: string;
  readonly answer: (asked: AskedOfClient, signal: AbortSignal) => Promise<ClientAnswer> | ClientAnswer;
  /** What the client declares about elicitation; form and url by default. `false`: nothing. */
  readonly shows?: false | Shows;
  /** What the client does for servers itself; nothing without it. */
  readonly does?: ClientDoes;
}

export interface ClientDoes {
  /** The text of its model. */
  readonly sample?: (params: SampledParams, signal: AbortSignal) => Promise<string> | string;
  /** The addresses of its folders. */
  readonly roots?: readonly string[];
}

export interface SampledParams {
  readonly messages: readonly { readonly content: unknown }[];
  readonly maxTokens: number;
}

export type Shows = { readonly form?: Record<string, never>; readonly url?: Record<string, never> };

function capabilitiesOf({ shows = { form: {}, url: {} }, does = {} }: ClientOptions) {
  return {
    ...(shows !== false && { elicitation: { ...shows } }),
    ...(does.sample !== undefined && { sampling: {} }),
    ...(does.roots !== undefined && { roots: {} }),
  };
}

/** The text as the result of a sampling. */
const sampled = (text: string) => ({
  role: 'assistant' as const,
  content: { type: 'text' as const, text },
  model: 'stock',
  stopReason: 'endTurn',
});
const rootsOf = ({ roots = [] }: ClientDoes) => ({ roots: roots.map((uri) => ({ uri })) });

const INFO = { name: 'stock', version: '1.0.0' };
// Ends what hangs. A request is open for as long as its person thinks, while pods are killed and replaced.
const TIMEOUT_MS = paced(300_000);
const MCP = '/run/v1/mcp';

function transportOptions({ urls, token, fetch = pickFetch(urls) }: ClientOptions) {
  return {
    fetch,
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    reconnectionOptions: {
      initialReconnectionDelay: 20,
      maxReconnectionDelay: 200,
      reconnectionDelayGrowFactor: 1.5,
      maxRetries: 20,
    },
  };
}

/** The v1 package: revision 2025-11-25. */
export async function v1Client(options: ClientOptions): Promise<StockClient> {
  const { urls } = options;
  const client = new OldClient(INFO, { capabilities: capabilitiesOf(options) });
  const completed: string[] = [];
  const progress: number[] = [];
  if (options.shows !== false)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => ({
      ...(await options.answer(params, signal)),
    }));
  const { does = {} } = options;
  const { sample } = does;
  if (sample !== undefined)
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { signal }) =>
      sampled(await sample(params, signal)),
    );
  if (does.roots !== undefined) client.setRequestHandler(ListRootsRequestSchema, () => rootsOf(does));
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
    completed.push(params.elicitationId);
  });
  // The transport of this package does not fit its own interface under exactOptionalPropertyTypes.
  const transport = new OldTransport(new URL(MCP, urls[0]), transportOptions(options)) as Parameters<
    OldClient['connect']
  >[0];
  await client.connect(transport);
  return {
    completed,
    progress,
    async call(message, { tool: name = 'helper', input = { message }, timeoutMs = TIMEOUT_MS, signal } = {}) {
      const result = await client.callTool({ name, arguments: { ...input } }, undefined, {
        timeout: timeoutMs,
        onprogress: ({ progress: seconds }) => progress.push(seconds),
        ...(signal !== undefined && { signal }),
      });
      return calledOf(result);
    },
    listTools: async () => (await client.listTools()).tools,
    close: () => client.close(),
  };
}

/** The v2 package, with either revision. */
export function v2Client(mode: 'legacy' | { readonly pin: string }) {
  return async (options: ClientOptions): Promise<StockClient> => {
    const { urls } = options;
    const client = new Client(INFO, { capabilities: capabilitiesOf(options), versionNegotiation: { mode } });
    const completed: string[] = [];
    const progress: number[] = [];
    if (options.shows !== false)
      client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => ({
        ...(await options.answer(params as AskedOfClient, mcpReq.signal)),
      }));
    const { does = {} } = options;
    const { sample } = does;
    if (sample !== undefined)
      client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) =>
        sampled(await sample(params, mcpReq.signal)),
      );
    if (does.roots !== undefined) client.setRequestHandler('roots/list', () => rootsOf(does));
    if (mode === 'legacy')
      client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
        completed.push(params.elicitationId);
      });
    await client.connect(new StreamableHTTPClientTransport(new URL(MCP, urls[0]), transportOptions(options)));
    return {
      completed,
      progress,
      async call(
        message,
        { tool: name = 'helper', input = { message }, timeoutMs = TIMEOUT_MS, signal } = {},
      ) {
        const result = await client.callTool(
          { name, arguments: { ...input } },
          {
            timeout: timeoutMs,
            onprogress: ({ progress: seconds }) => progress.push(seconds),
            ...(signal !== undefined && { signal }),
          },
        );
        return calledOf(result);
      },
      listTools: async () => (await client.listTools()).tools,
      close: () => client.close(),
    };
  };
}

export const CLIENTS = {
  v1: v1Client,
  'v2 (2025-11-25)': v2Client('legacy'),
  'v2 (2026-07-28)': v2Client({ pin: '2026-07-28' }),
} as const;

export function calledOf(result: object): Called {
  const { content, isError } = result as { readonly content?: unknown; readonly isError?: unknown };
  const blocks = (content ?? []) as readonly { readonly text?: string }[];
  return { text: blocks.map(({ text = '' }) => text).join(''), isError: isError === true };
}

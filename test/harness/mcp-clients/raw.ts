/** Requests as no client sends them: raw JSON-RPC over HTTP. */
import type { Person } from './setup.ts';

export interface RpcReply {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON-RPC messages of the reply, from JSON or from its events. */
  readonly messages: readonly RpcMessage[];
  /** The id of the last event that had one. */
  readonly lastId: string | undefined;
}

export interface RpcMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>> & {
    readonly content?: readonly { readonly text: string }[];
    readonly inputRequests?: Readonly<Record<string, unknown>>;
    readonly requestState?: string;
  };
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
}

export interface RawOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly method?: string;
}

export function send(
  url: string,
  body: unknown,
  { token, headers, signal, method = 'POST' }: RawOptions = {},
) {
  return fetch(`${url}/run/v1/mcp`, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
}

/** Reads a reply to its end. */
export async function readReply(reply: Response): Promise<RpcReply> {
  const text = await reply.text();
  const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const lines = text.split('\n');
  const data = isStream
    ? lines.flatMap((line) => (line.startsWith('data: ') && line.length > 6 ? [line.slice(6)] : []))
    : [text].filter((one) => one !== '');
  const ids = lines.flatMap((line) => (line.startsWith('id: ') ? [line.slice(4)] : []));
  const { status, headers } = reply;
  return { status, headers, messages: data.map((one) => JSON.parse(one) as RpcMessage), lastId: ids.at(-1) };
}

export async function exchange(url: string, body: unknown, options?: RawOptions): Promise<RpcReply> {
  return readReply(await send(url, body, options));
}

export const SHOWS_ALL = { elicitation: { form: {}, url: {} } };

export function initializeMessage(capabilities: object = SHOWS_ALL, protocolVersion = '2025-11-25') {
  const clientInfo = { name: 'raw', version: '1' };
  return {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion, capabilities, clientInfo },
  };
}

/** Begins a session; returns the headers that name it. */
export async function beginSession(url: string, { token }: Person, capabilities?: object) {
  const { status, headers } = await exchange(url, initializeMessage(capabilities), { token });
  if (status !== 200) throw new Error(`initialize: ${status}`);
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
}

export function callMessage(id: string | number, message: string, more: object = {}) {
  return {
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'helper', arguments: { message }, ...more },
  };
}

const REVISION = '2026-07-28';

/** A request of revision 2026-07-28 with its headers. */
export function modern(
  method: string,
  params: Readonly<Record<string, unknown>>,
  capabilities: object = SHOWS_ALL,
) {
  const name = typeof params.name === 'string' ? params.name : undefined;
  return {
    body: {
      jsonrpc: '2.0',
      id: Math.floor(Math.random() * 1e9),
      method,
      params: {
        ...params,
        _meta: {
          ...(params._meta as object | undefined),
          'io.modelcontextprotocol/protocolVersion': REVISION,
          'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    },
    headers: {
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    },
  };
}

/** A call of revision 2026-07-28. */
export async function modernCall(
  url: string,
  { token }: Pick<Person, 'token'>,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
  capabilities?: object,
) {
  const params = { name: 'helper', arguments: { message }, ...more };
  const { body, headers } = modern('tools/call', params, capabilities);
  const reply = await exchange(url, body, { token, headers });
  return { ...reply, message: reply.messages.at(-1) };
}

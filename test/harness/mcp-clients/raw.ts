/** Requests as no client sends them: raw JSON-RPC over HTTP. */
import { onTestFinished } from 'vitest';
import type { Person } from '../protocols/pods.ts';

export interface RpcReply {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON-RPC messages of the reply, from JSON or from its events. */
  readonly messages: readonly RpcMessage[];
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
  const { status, headers } = reply;
  return { status, headers, messages: data.map((one) => JSON.parse(one) as RpcMessage) };
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

export interface RawSession {
  readonly headers: { readonly 'mcp-session-id': string; readonly 'mcp-protocol-version': string };
  /** Sends a message to a pod, and reads the reply to its end. */
  exchange(url: string, body: unknown, options?: RawOptions): Promise<RpcReply>;
  /** Calls the agent on a pod. */
  call(url: string, id: string | number, message: string, more?: object): Promise<Response>;
  /** Answers a question on a pod. */
  answer(url: string, id: unknown, result: object): Promise<RpcReply>;
  /** Continues a stream on a pod. */
  resume(url: string, lastId: string): Promise<Response>;
}

/** Begins a session of a person on a pod; it exists on every pod. */
export async function beginSession(
  url: string,
  { token }: Pick<Person, 'token'>,
  capabilities?: object,
): Promise<RawSession> {
  const begun = await exchange(url, initializeMessage(capabilities), { token });
  if (begun.status !== 200) throw new Error(`initialize: ${begun.status}`);
  const headers = {
    'mcp-session-id': begun.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
  const inSession = (options: RawOptions = {}) => ({
    token,
    ...options,
    headers: { ...headers, ...options.headers },
  });
  return {
    headers,
    exchange: (pod, body, options) => exchange(pod, body, inSession(options)),
    call: (pod, id, message, more) => send(pod, callMessage(id, message, more), inSession()),
    answer: (pod, id, result) => exchange(pod, { jsonrpc: '2.0', id, result }, inSession()),
    resume: (pod, lastId) =>
      send(pod, undefined, inSession({ headers: { 'last-event-id': lastId }, method: 'GET' })),
  };
}

/** Reads the events of a call until one contains the text, and leaves. */
export async function readUntil(reply: Response, text: string): Promise<string> {
  const reader = reply.body?.getReader();
  let seen = '';
  while (!seen.includes(text)) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    seen += new TextDecoder().decode(value);
  }
  await reader?.cancel();
  return seen;
}

/** The messages of a stream, as they come. It is read until the end of the test. */
export function hear(reply: Response, onMessage: (message: RpcMessage) => void = () => undefined) {
  const messages: RpcMessage[] = [];
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  const close = async () => void (await reader?.cancel().catch(() => undefined));
  onTestFinished(close);
  async function read(): Promise<void> {
    let rest = '';
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return;
      const lines = `${rest}${value}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter((one) => one.startsWith('data: {'))) {
        const message = JSON.parse(line.slice('data: '.length)) as RpcMessage;
        messages.push(message);
        onMessage(message);
      }
    }
  }
  return { messages, ended: read().catch(() => undefined), close };
}

export const errorOf = ({ messages }: Pick<RpcReply, 'messages'>) => messages.at(-1)?.error;

/** The text of the result of a call. */
export const textIn = (message: RpcMessage | undefined) => message?.result?.content?.[0]?.text;

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
  const name = [params.name, params.uri, params.taskId].find((one) => typeof one === 'string') as
    | string
    | undefined;
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

/** A request of revision 2026-07-28, and its reply. */
export function modernExchange(
  url: string,
  { token }: Pick<Person, 'token'>,
  { body, headers }: { readonly body: object; readonly headers: Readonly<Record<string, string>> },
  more: Readonly<Record<string, string>> = {},
): Promise<RpcReply> {
  return exchange(url, body, { token, headers: { ...headers, ...more } });
}

/** A call of revision 2026-07-28, with the parts of its result that most tests read. */
export async function modernCall(
  url: string,
  person: Pick<Person, 'token'>,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
  capabilities?: object,
) {
  const params = { name: 'helper', arguments: { message }, ...more };
  const reply = await modernExchange(url, person, modern('tools/call', params, capabilities));
  const last = reply.messages.at(-1);
  const { inputRequests, requestState } = last?.result ?? {};
  const [id = ''] = Object.keys(inputRequests ?? {});
  return { ...reply, message: last, result: last?.result, text: textIn(last), id, requestState };
}

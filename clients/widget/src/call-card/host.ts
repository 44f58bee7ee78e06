import { isRecord } from '@parley/core/domain/plain-record';

/** The parts of the host's context that the card uses (MCP Apps, revision 2026-01-26). */
export interface HostContext {
  readonly theme?: unknown;
  readonly locale?: unknown;
  readonly toolInfo?: unknown;
  readonly styles?: unknown;
  readonly containerDimensions?: unknown;
  readonly safeAreaInsets?: unknown;
}

/** Receives the notifications of the host. */
interface HostListener {
  /** Called with the changed parts of the context; at first with all of it. */
  onContext(context: HostContext): void;
  onInput(args: Readonly<Record<string, unknown>>): void;
  onResult(result: Readonly<Record<string, unknown>>): void;
  onCancelled(): void;
  /** Called when the host is about to remove the card. */
  onTeardown(): void;
}

/** The program that shows the card in its window. */
export interface Host {
  /** Sends a request. Rejects when the host refuses, or does not reply in time. */
  request(method: string, params: object): Promise<Readonly<Record<string, unknown>>>;
  notify(method: string, params: object): void;
}

type Message = Readonly<Record<string, unknown>>;

const PROTOCOL = '2026-01-26';
const REPLY_MS = 60_000;
const METHOD_NOT_FOUND = -32601;

/** Connects to the host by JSON-RPC over window messages. Messages from other windows are ignored. */
export async function connectHost(listener: HostListener, parent: Window = window.parent): Promise<Host> {
  const waiting = new Map<unknown, (reply: Message) => void>();
  let lastId = 0;
  // The origin of the host is unknown here, so any is allowed: its sandbox passes messages on, and the card sends nothing
  // secret.
  const send = (message: object) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

  function request(method: string, params: object): Promise<Message> {
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle({}), REPLY_MS);
      const settle = ({ result }: Message) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (isRecord(result)) resolve(result);
        else reject(new Error(`The host refuses ${method}`));
      };
      waiting.set(id, settle);
      send({ id, method, params });
    });
  }

  const notices: Readonly<Record<string, (params: Message) => void>> = {
    'ui/notifications/host-context-changed': (params) => listener.onContext(params),
    'ui/notifications/tool-input': ({ arguments: args }) => listener.onInput(isRecord(args) ? args : {}),
    'ui/notifications/tool-result': (params) => listener.onResult(params),
    'ui/notifications/tool-cancelled': () => listener.onCancelled(),
  };

  /** The reply to a request from the host. */
  function replyTo(method: unknown): object {
    if (method === 'ui/resource-teardown') listener.onTeardown();
    else if (method !== 'ping') return { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
    return { result: {} };
  }

  window.addEventListener('message', ({ source, data }: MessageEvent<unknown>) => {
    if (source !== parent || !isRecord(data)) return;
    const { id, method } = data;
    const params = isRecord(data.params) ? data.params : {};
    if (method === undefined) waiting.get(id)?.(data);
    else if (id === undefined) notices[String(method)]?.(params);
    else send({ id, ...replyTo(method) });
  });

  const { hostContext } = await request('ui/initialize', {
    protocolVersion: PROTOCOL,
    appInfo: { name: 'parley-call', version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline'] },
  });
  listener.onContext(isRecord(hostContext) ? hostContext : {});
  const notify = (method: string, params: object) => send({ method, params });
  notify('ui/notifications/initialized', {});
  return { request, notify };
}

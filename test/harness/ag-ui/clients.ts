/** The stock clients of AG-UI: the current one, and the one that CopilotKit has pinned. */
import { type BaseEvent, HttpAgent, runHttpRequest, transformHttpEventStream } from '@ag-ui/client';
import {
  HttpAgent as OlderAgent,
  runHttpRequest as olderRequest,
  transformHttpEventStream as olderStream,
} from 'ag-ui-client-0';

/** What both versions have. */
export interface StockAgent {
  url: string;
  messages: StockMessage[];
  pendingInterrupts: readonly StockInterrupt[];
  addMessage(message: { id: string; role: 'user'; content: string }): void;
  runAgent(
    parameters: { runId?: string; resume?: readonly object[] },
    subscriber: object,
  ): Promise<{ readonly newMessages: readonly StockMessage[] }>;
  connectAgent(parameters: object, subscriber: object): Promise<unknown>;
}

export interface StockMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCallId?: string;
  readonly toolCalls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

export interface StockInterrupt {
  readonly id: string;
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  readonly responseSchema?: { readonly properties?: object };
  readonly expiresAt?: string;
  readonly metadata?: { readonly parley?: Readonly<Record<string, unknown>> };
}

interface StockConfig {
  readonly url: string;
  readonly threadId?: string;
  readonly headers?: Record<string, string>;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

const connecting = ({ url, headers, threadId }: StockConfig, version = '') =>
  fetch(`${url}?threadId=${threadId}${version}`, headers === undefined ? {} : { headers });

/** As docs/ag-ui.md shows it: the protocol leaves to the application how a client connects. */
class ConnectingAgent extends HttpAgent {
  protected override connect() {
    return transformHttpEventStream(runHttpRequest(() => connecting(this, '&protocolVersion=1.0')));
  }
}

class OlderConnectingAgent extends OlderAgent {
  protected override connect() {
    return olderStream(olderRequest(() => connecting(this)));
  }
}

export const CLIENTS = [
  {
    version: '1.0.0',
    open: (config: StockConfig) => new ConnectingAgent(config as never) as unknown as StockAgent,
  },
  {
    version: '0.0.59',
    open: (config: StockConfig) => new OlderConnectingAgent(config as never) as unknown as StockAgent,
  },
] as const;

type SeenEvent = BaseEvent & { readonly type: string };

/** What a client saw of a run. */
export interface Seen {
  readonly types: readonly string[];
  readonly events: readonly SeenEvent[];
  readonly interrupts: readonly StockInterrupt[];
  /** The code of `RUN_ERROR`. */
  readonly code: string | undefined;
  /** How the run ended; undefined while it has not. */
  readonly end: SeenEvent | undefined;
}

async function watching(start: (subscriber: object) => Promise<unknown>): Promise<Seen> {
  const events: SeenEvent[] = [];
  await start({ onEvent: ({ event }: { readonly event: SeenEvent }) => void events.push(event) });
  const end = events.at(-1);
  const { outcome, code } = (end ?? {}) as {
    readonly outcome?: { readonly interrupts?: readonly StockInterrupt[] };
    readonly code?: string;
  };
  return { types: events.map(({ type }) => type), events, interrupts: outcome?.interrupts ?? [], code, end };
}

/** Runs the agent, with a message where there is one. */
export function runStock(
  agent: StockAgent,
  parameters: { readonly runId?: string; readonly resume?: readonly object[] } = {},
  text?: string,
): Promise<Seen> {
  if (text !== undefined)
    agent.addMessage({ id: `user-${agent.messages.length}`, role: 'user', content: text });
  return watching((subscriber) => agent.runAgent(parameters as never, subscriber));
}

export function connectStock(agent: StockAgent): Promise<Seen> {
  return watching((subscriber) => agent.connectAgent({}, subscriber));
}

/** Answers one interrupt. */
export const resolved = (interrupt: StockInterrupt | undefined, payload?: unknown) => ({
  interruptId: interrupt?.id ?? '',
  status: 'resolved',
  ...(payload !== undefined && { payload }),
});

/** All text of the assistant, as the client has it. */
export function textOfAgent({ messages }: Pick<StockAgent, 'messages'>): string {
  return messages.map(({ role, content }) => (role === 'assistant' ? (content ?? '') : '')).join('');
}

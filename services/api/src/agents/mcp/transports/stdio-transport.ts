import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import {
  deserializeMessage,
  isJSONRPCRequest,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { MessageTooLarge } from '../errors.ts';
import type { McpStdioTransport } from '../server-config.ts';
import type { ChildGuard } from './child-guard.ts';
import type { Exchanges } from './exchange.ts';
import { createLineReader } from './lines.ts';
import { createPendingRequests } from './pending-requests.ts';

export interface StdioTransportOptions {
  readonly program: McpStdioTransport;
  readonly messageBytesMax: number;
  /** How long the child process may take to exit after its input ends, and again after SIGTERM. */
  readonly killGraceMs: number;
  readonly exchanges: Exchanges;
  readonly guard: ChildGuard;
  readonly onStderr: (chunk: Buffer) => void;
}

/** A child process that speaks MCP, one message per line. */
export interface StdioTransport extends Transport {
  /** The SDK recognizes a stdio transport by these two properties. They have no other use. */
  readonly pid: number | null;
  readonly stderr: null;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Makes the transport. The SDK's own is not used: it adds variables of this process to the child's environment, passes
 * the child's stderr through, does not wait for the exit after SIGKILL, and does not end the child's own children.
 */
export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  const { messageBytesMax, killGraceMs, exchanges, guard, onStderr } = options;
  const pending = createPendingRequests();
  let child: Child | undefined;
  let isOver = false;

  const transport: StdioTransport = {
    get pid() {
      return child?.pid ?? null;
    },
    stderr: null,
    start: async () => {
      child = await spawnChild(options.program);
      guard.watch(child);
      child.stdin.on('error', (error) => transport.onerror?.(error));
      child.stderr.on('data', onStderr);
      child.stdout.on('data', createLineReader({ bytesMax: messageBytesMax, onLine, onTooLong }));
      child.once('close', onExit);
    },
    send: async (message) => {
      const to = child?.stdin;
      if (to === undefined || isOver || !to.writable)
        throw new SdkError(SdkErrorCode.NotConnected, 'not running');
      const exchange = exchanges.getStore();
      if (exchange !== undefined) {
        exchange.dispatched = true;
        if (isJSONRPCRequest(message)) pending.add(message.id, exchange);
      }
      await write(to, serializeMessage(message));
    },
    close: async () => {
      const running = child;
      if (running !== undefined) await end(running, killGraceMs);
      onExit();
    },
  };

  function onLine(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      // Programs also print lines that are not messages.
      return;
    }
    if ('id' in message && !('method' in message)) pending.take(message.id);
    transport.onmessage?.(message);
  }

  // The request is known only when a single one is pending.
  function onTooLong(): void {
    const only = pending.only();
    if (only === undefined) void transport.close();
    else only.fail(new MessageTooLarge());
  }

  function onExit(): void {
    if (isOver) return;
    isOver = true;
    transport.onclose?.();
  }

  return transport;
}

async function spawnChild({ command, args = [], env = {} }: McpStdioTransport): Promise<Child> {
  // The child leads a process group, so that its own children end with it.
  const child = spawn(command, [...args], {
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => {
      child.off('error', reject);
      child.on('error', () => undefined);
      resolve();
    });
  });
  child.once('exit', () => killGroup(child));
  return child;
}

/** Closes the input, then sends SIGTERM, then SIGKILL. Resolves when the process has exited. */
async function end(child: Child, graceMs: number): Promise<void> {
  const exited = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
  child.stdin.end();
  if (await within(graceMs, exited)) return;
  child.kill('SIGTERM');
  if (await within(graceMs, exited)) return;
  killGroup(child);
  await exited;
}

async function within(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function killGroup({ pid }: Child): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}

function write(to: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(line, (error) => (error ? reject(error) : resolve()));
  });
}

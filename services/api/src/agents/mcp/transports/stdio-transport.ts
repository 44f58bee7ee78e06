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
import { MessageTooLarge } from '../calls/faults.ts';
import { createUnanswered } from '../calls/unanswered.ts';
import type { McpStdioTransport } from '../server-config.ts';
import type { ChildGuard } from './child-guard.ts';
import type { Exchanges } from './exchange.ts';
import { createLineReader } from './lines.ts';

export interface StdioTransportOptions {
  readonly program: McpStdioTransport;
  readonly messageBytesMax: number;
  /** How long the child has to end when its input does, and again after SIGTERM. */
  readonly killGraceMs: number;
  readonly exchanges: Exchanges;
  readonly guard: ChildGuard;
  readonly onStderr: (chunk: Buffer) => void;
}

/** A child process that speaks MCP, one message a line. */
export interface StdioTransport extends Transport {
  /** The SDK knows a child process by these two; they are of no other use. */
  readonly pid: number | null;
  readonly stderr: null;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Not the SDK's: that adds variables of this process to the child's environment, leaves its stderr to this process's,
 * does not wait for its end after SIGKILL, and lets whatever the child started live on.
 */
export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  const { messageBytesMax, killGraceMs, exchanges, guard, onStderr } = options;
  const unanswered = createUnanswered();
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
      child.once('close', onGone);
    },
    send: async (message) => {
      const to = child?.stdin;
      if (to === undefined || isOver || !to.writable)
        throw new SdkError(SdkErrorCode.NotConnected, 'not running');
      const exchange = exchanges.getStore();
      if (exchange !== undefined) {
        exchange.left = true;
        if (isJSONRPCRequest(message)) unanswered.add(message.id, exchange);
      }
      await write(to, serializeMessage(message));
    },
    close: async () => {
      const running = child;
      if (running !== undefined) await end(running, killGraceMs);
      onGone();
    },
  };

  function onLine(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      // Programs print all sorts of things.
      return;
    }
    if ('id' in message && !('method' in message)) unanswered.take(message.id);
    transport.onmessage?.(message);
  }

  // Whose answer it was is not known, unless only one is awaited.
  function onTooLong(): void {
    const only = unanswered.only();
    if (only === undefined) void transport.close();
    else only.fail(new MessageTooLarge());
  }

  function onGone(): void {
    if (isOver) return;
    isOver = true;
    transport.onclose?.();
  }

  return transport;
}

async function spawnChild({ command, args = [], env = {} }: McpStdioTransport): Promise<Child> {
  // The leader of a process group: what it starts in turn ends with it.
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

/** Its input ends, then SIGTERM, then SIGKILL; resolves when it is gone. */
async function end(child: Child, graceMs: number): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });
  child.stdin.end();
  if (await within(graceMs, gone)) return;
  child.kill('SIGTERM');
  if (await within(graceMs, gone)) return;
  killGroup(child);
  await gone;
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
    // Nobody is left of it.
  }
}

function write(to: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(line, (error) => (error ? reject(error) : resolve()));
  });
}

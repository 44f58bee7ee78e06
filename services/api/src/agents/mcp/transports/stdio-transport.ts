/** The transport for MCP servers that are programs. Starting and ending the process is in `child-process.ts`. */

import type { Writable } from 'node:stream';
import {
  deserializeMessage,
  isJSONRPCRequest,
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { limitDepth } from '@parley/shared/domain/json/depth';
import { MessageTooLarge } from '../errors.ts';
import type { McpStdioTransport } from '../server-config.ts';
import type { ChildGuard } from './child-guard.ts';
import { type Child, endChild, spawnChild } from './child-process.ts';
import type { Door } from './door.ts';
import { type Exchanges, keepCreated } from './exchange.ts';
import { createLineReader } from './lines.ts';
import { createNoteLimit } from './note-limit.ts';
import { createPendingRequests } from './pending-requests.ts';

interface StdioTransportOptions {
  readonly program: McpStdioTransport;
  readonly messageBytesMax: number;
  /** How long the child process may take to exit after its input ends, and again after SIGTERM. */
  readonly killGraceMs: number;
  readonly exchanges: Exchanges;
  readonly guard: ChildGuard;
  readonly onStderr: (chunk: Buffer) => void;
  readonly door: Door;
  /** Called if notes of changed resources were dropped. */
  readonly onChangesDropped: () => void;
}

/** A child process that speaks MCP, one message per line. */
interface StdioTransport extends Transport {
  /** The SDK recognizes a stdio transport by these two properties. They have no other use. */
  readonly pid: number | null;
  readonly stderr: null;
}

/**
 * Makes the transport. The SDK's own is not used: it parses lines before their depth and rate can be limited, adds variables of
 * this process to the child's environment, does not wait for the exit after SIGKILL, and does not end the child's own children.
 */
export function createStdioTransport(options: StdioTransportOptions): StdioTransport {
  const { messageBytesMax, killGraceMs, exchanges, guard, onStderr, door, onChangesDropped } = options;
  const pending = createPendingRequests();
  const notes = createNoteLimit({ release: (kept) => kept.forEach(onMessage), onChangesDropped });
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
      if (running !== undefined) await endChild(running, killGraceMs);
      onExit();
    },
  };

  function onLine(line: string): void {
    for (const one of notes.take(limitDepth(line))) onMessage(one);
  }

  function onMessage(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch {
      // Programs also print lines that are not messages; such lines are ignored.
      return;
    }
    const received = door.message(message);
    if ('id' in message && !('method' in message)) keepCreated(pending.take(message.id), received);
    transport.onmessage?.(received);
  }

  // The request that belongs to the line is known only if a single one is pending.
  function onTooLong(): void {
    const only = pending.only();
    if (only === undefined) void transport.close();
    else only.fail(new MessageTooLarge());
  }

  function onExit(): void {
    if (isOver) return;
    isOver = true;
    notes.end();
    transport.onclose?.();
  }

  return transport;
}

function write(to: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(line, (error) => (error ? reject(error) : resolve()));
  });
}

import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { createAcpAgent } from './agent.ts';
import type { AcpAgentOptions } from './options.ts';

interface ServeStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly signal: AbortSignal;
}

/**
 * Serves one ACP client until it closes `stdin` or the signal is aborted. Nothing else may write to `stdout`. Running turns
 * continue on the server.
 */
export async function serveAcp(
  options: AcpAgentOptions,
  { stdin, stdout, signal }: ServeStreams,
): Promise<void> {
  const input = Readable.toWeb(stdin) as ReadableStream<Uint8Array>;
  const connection = createAcpAgent(options).connect(ndJsonStream(Writable.toWeb(stdout), input));
  signal.addEventListener('abort', () => connection.close());
  await connection.closed;
}

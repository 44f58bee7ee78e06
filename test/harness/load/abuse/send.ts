import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';

export interface AbuseCall {
  readonly method?: string;
  readonly path: string;
  readonly token: string;
  readonly body?: string;
  /** Reads the reply for this long and leaves, as for a stream; else until its end. */
  readonly holdMs?: number;
}

/** Sends one call to the next pod; returns the status with the code of the problem, such as `429 read_quota`. */
export type Send = (call: AbuseCall) => Promise<string>;

const CALL_MS = 30_000;
const PROBLEM_BYTES_MAX = 4_096;

/** Creates a sender over connections that are kept; every pod in turn. Replies are read and thrown away. */
export function createSend(urls: readonly string[]): { send: Send; receivedBytes(): number } {
  const agent = new Agent({ keepAlive: true });
  let next = 0;
  let receivedBytes = 0;

  function send({ method = 'GET', path, token, body, holdMs }: AbuseCall): Promise<string> {
    const url = new URL(path, urls[next++ % urls.length]);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      }),
    };
    return new Promise((resolve) => {
      const call = request(url, { method, agent, headers });
      const timer = setTimeout(() => call.destroy(new Error('timeout')), CALL_MS);
      const settle = (result: string) => {
        clearTimeout(timer);
        resolve(result);
      };
      call.on('error', (error: NodeJS.ErrnoException) => settle(`0 ${error.code ?? error.message}`));
      call.on('response', (response) => {
        const { statusCode = 0 } = response;
        const text = collectProblem(response, statusCode);
        response.on('data', (chunk: Buffer) => {
          receivedBytes += chunk.length;
        });
        response.on('end', () => settle(describe(statusCode, text())));
        response.on('error', () => settle(describe(statusCode, '')));
        if (holdMs !== undefined && statusCode === 200) {
          setTimeout(() => {
            settle('200');
            call.destroy();
          }, holdMs);
        }
      });
      call.end(body);
    });
  }
  return { send, receivedBytes: () => receivedBytes };
}

function collectProblem(response: IncomingMessage, status: number): () => string {
  let text = '';
  if (status >= 400) {
    response.on('data', (chunk: Buffer) => {
      if (text.length < PROBLEM_BYTES_MAX) text += chunk.toString('latin1');
    });
  }
  return () => text;
}

function describe(status: number, problem: string): string {
  const code = /"code":"(\w+)"/.exec(problem)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

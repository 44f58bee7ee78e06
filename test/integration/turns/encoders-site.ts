/** Serves encoded streams over HTTP, and reads them with the clients that people have. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import OpenAI from 'openai';
import { AI_SDK_HEADERS } from '../../../services/api/src/surfaces/ai-sdk/encoder.ts';

export interface Site {
  readonly url: string;
  /** Answers the next request with these bytes, split at these places. */
  serve(bytes: string, splits?: readonly number[]): void;
  close(): Promise<void>;
}

export async function openSite(): Promise<Site> {
  let answer: (res: ServerResponse) => Promise<void> = async (res) => void res.writeHead(500).end();
  const server = createServer((req, res) => {
    req.resume();
    void answer(res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    serve(bytes, splits = []) {
      answer = async (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...AI_SDK_HEADERS });
        res.write('retry: 1000\n');
        for (const part of partsOf(Buffer.from(bytes), splits)) await written(res, part);
        await written(res, Buffer.from(': heartbeat\n'));
        res.end();
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Resolves once the part has left on its own, so that readers get it as a chunk of its own where TCP allows. */
function written(res: ServerResponse, part: Buffer): Promise<void> {
  return new Promise((resolve) => res.write(part, () => setImmediate(resolve)));
}

function partsOf(bytes: Buffer, splits: readonly number[]): Buffer[] {
  const places = [...new Set(splits.map((at) => at % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

/** The chunks as the AI SDK's own transport reads them: it throws at one that it does not know. */
async function readTransport(url: string): Promise<ReadableStream<UIMessageChunk>> {
  const transport = new DefaultChatTransport({ api: url });
  const messages: UIMessage[] = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
  return transport.sendMessages({
    chatId: 'c1',
    trigger: 'submit-message',
    messageId: undefined,
    messages,
    abortSignal: undefined,
  });
}

export interface ReadMessage {
  readonly message: UIMessage | undefined;
  readonly errors: readonly string[];
}

/** The message as the AI SDK puts it together, and what it complained of. */
export async function readMessage(url: string): Promise<ReadMessage> {
  const errors: string[] = [];
  let message: UIMessage | undefined;
  const stream = await readTransport(url);
  for await (const next of readUIMessageStream({
    stream,
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
  })) {
    message = next;
  }
  return { message, errors };
}

export function openAiAt(url: string): OpenAI {
  return new OpenAI({ apiKey: 'test', baseURL: url, maxRetries: 0 });
}

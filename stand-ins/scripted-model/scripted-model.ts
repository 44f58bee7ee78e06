/** Starts a server that replies to chat completions by a script. Faults are in `faults.ts`, replies in `reply.ts`. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { listenOn, listenOnFreePort } from '../../test/harness/free-port.ts';
import { breakBody, breakStream, type ModelFault, refusalOf } from './faults.ts';
import { type ChatRequest, errorBody, invalidRequest, type Refusal, readChatRequest } from './protocol.ts';
import { chunksOf, completionOf, type PreparedReply, prepare, SCRIPTED_MODEL } from './reply.ts';
import { replyOf, type Script } from './script.ts';

/** A valid chat completions request, and its outcome. */
export interface ModelRequest {
  readonly body: ChatRequest;
  readonly headers: IncomingHttpHeaders;
  /** `disconnected`: the caller closed the connection before its reply was complete. */
  readonly outcome: 'running' | 'replied' | 'broken' | 'disconnected';
}

export interface ScriptedModelOptions {
  readonly script: Script;
  /** By default a free one. */
  readonly port?: number;
  /** The bearer token that is required; by default none. */
  readonly apiKey?: string;
  /** Pause before each chunk of a stream, in ms; by default 0. */
  readonly delayMs?: number;
  /** Called once for every valid request. A returned fault breaks the reply to that request. */
  readonly fault?: (request: ModelRequest) => ModelFault | undefined;
}

export interface ScriptedModel {
  /** The base URL for clients, which ends in `/v1`. */
  readonly url: string;
  /** The requests in the order of arrival; the list grows. */
  readonly requests: readonly ModelRequest[];
  /** Stops at once and cuts open replies. */
  stop(): Promise<void>;
}

type Entry = { -readonly [Key in keyof ModelRequest]: ModelRequest[Key] };

/**
 * Starts a server for the OpenAI chat completions protocol on 127.0.0.1 that replies by its script. It is a stand-in for a
 * language model: every reply names its model as `scripted`, and the same request always gets the same reply. It refuses what
 * real endpoints refuse, such as a history with an unanswered tool call.
 */
export async function startScriptedModel(options: ScriptedModelOptions): Promise<ScriptedModel> {
  const requests: Entry[] = [];
  const server = createServer((req, res) => {
    answer(req, res, options, requests).catch((error: unknown) => {
      // A caller that waits is told that a rule of the script threw; one that has disconnected reads nothing.
      if (res.headersSent || res.destroyed) res.destroy();
      else refuse(res, refusalOf(500, `The script failed: ${String(error)}`));
    });
  });
  const port = options.port ?? (await listenOnFreePort(server));
  if (options.port !== undefined) await listenOn(server, options.port);
  let stopped: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    stop() {
      stopped ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return stopped;
    },
  };
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  options: ScriptedModelOptions,
  requests: Entry[],
): Promise<void> {
  const route = `${req.method} ${new URL(req.url ?? '/', 'http://model').pathname}`;
  if (options.apiKey !== undefined && req.headers.authorization !== `Bearer ${options.apiKey}`)
    return refuse(
      res,
      invalidRequest('Incorrect API key provided.', { status: 401, code: 'invalid_api_key' }),
    );
  if (route === 'GET /v1/models')
    return sendJson(res, 200, { object: 'list', data: [{ id: SCRIPTED_MODEL, ...MODEL }] });
  if (route !== 'POST /v1/chat/completions')
    return refuse(
      res,
      invalidRequest(`Unknown request URL: ${route}.`, { status: 404, code: 'unknown_url' }),
    );
  const read = await readBody(req);
  if ('refusal' in read) return refuse(res, read.refusal);
  const entry: Entry = { body: read.request, headers: req.headers, outcome: 'running' };
  requests.push(entry);
  await reply(res, entry, options);
}

const MODEL = { object: 'model', created: 0, owned_by: 'parley-demo' };

async function readBody(req: IncomingMessage): Promise<ReturnType<typeof readChatRequest>> {
  try {
    return readChatRequest(await json(req));
  } catch (error) {
    if (error instanceof SyntaxError)
      return { refusal: invalidRequest('We could not parse the JSON body of your request.') };
    throw error;
  }
}

async function reply(res: ServerResponse, entry: Entry, options: ScriptedModelOptions): Promise<void> {
  const disconnected = new AbortController();
  let broken = false;
  res.once('close', () => {
    entry.outcome = res.writableFinished && !broken ? 'replied' : broken ? 'broken' : 'disconnected';
    disconnected.abort();
  });
  const fault = options.fault?.(entry);
  // A hang ends when its caller disconnects.
  broken = fault !== undefined && fault.kind !== 'hang';
  if (fault?.kind === 'refuse') {
    if (fault.retryAfterSeconds !== undefined) res.setHeader('retry-after', fault.retryAfterSeconds);
    return refuse(res, refusalOf(fault.status, fault.message));
  }
  const prepared = prepare(replyOf(options.script, entry.body), entry.body);
  if (entry.body.stream !== true) return sendWhole(res, prepared, fault);
  if (fault?.kind === 'hang' && fault.afterChunks === undefined) return;
  const chunks = chunksOf(prepared, entry.body.stream_options?.include_usage === true);
  await sendStream({ res, chunks, fault, delayMs: options.delayMs ?? 0, disconnected: disconnected.signal });
}

function sendWhole(res: ServerResponse, prepared: PreparedReply, fault: ModelFault | undefined): void {
  const completion = completionOf(prepared);
  if (fault === undefined) sendJson(res, 200, completion);
  else if (fault.kind === 'error') refuse(res, refusalOf(500));
  else breakBody(fault, res, JSON.stringify(completion));
}

interface Stream {
  readonly res: ServerResponse;
  readonly chunks: readonly object[];
  readonly fault: ModelFault | undefined;
  readonly delayMs: number;
  readonly disconnected: AbortSignal;
}

async function sendStream({ res, chunks, fault, delayMs, disconnected }: Stream): Promise<void> {
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  res.flushHeaders();
  const lines = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'];
  const breakAt =
    fault === undefined || fault.kind === 'refuse'
      ? Number.POSITIVE_INFINITY
      : Math.min(fault.afterChunks ?? 0, chunks.length);
  for (const [index, line] of lines.entries()) {
    if (fault !== undefined && index >= breakAt) return breakStream(fault, res, line);
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: disconnected });
    await written(res, `data: ${line}\n\n`);
  }
  res.end();
}

// Waits until the text has been passed to the system, so that a cut connection loses nothing of it.
function written(res: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    res.write(text, (error) => (error == null ? resolve() : reject(error)));
  });
}

function refuse(res: ServerResponse, refusal: Refusal): void {
  sendJson(res, refusal.status, errorBody(refusal));
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

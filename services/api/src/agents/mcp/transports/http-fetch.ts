/** A fetch for one origin with its own sockets, limits and proofs. The MCP protocol over it is in `http-transport.ts`. */

import { setMaxListeners } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client';
import { limitDepth } from '@parley/shared/domain/json/depth';
import { bearerFirst } from '@parley/shared/domain/oauth/challenge';
import { CredentialRefused, ForeignOrigin, MessageTooLarge } from '../errors.ts';
import { limitBytes, type MessageBounds } from './byte-limit.ts';
import { createEventSplitter, dataOf, withData } from './events.ts';
import type { Exchange, Exchanges } from './exchange.ts';
import { createNoteLimit, type NoteLimit } from './note-limit.ts';
import { createProofs } from './proofs.ts';

interface HttpFetchOptions {
  /** The only origin that may be called. */
  readonly origin: string;
  readonly bounds: MessageBounds;
  readonly exchanges: Exchanges;
  /** As in the options of the note limit. */
  readonly onChangesDropped?: (() => void) | undefined;
  /** Signs a proof for each request that carries a token (DPoP). */
  readonly proofKey?: string | undefined;
}

/** A fetch with sockets of its own. `close` closes all of them. */
export interface HttpFetch {
  readonly fetch: FetchLike;
  close(): void;
}

// How long an idle socket is kept. It is shorter than the keep-alive of common servers, because a call on a closing connection
// may be lost.
const IDLE_SOCKET_MS = 3_000;
const FREE_SOCKETS_MAX = 4;
// No caller waits for the reply to a notification, so it needs a timeout of its own.
const NOTIFICATION_TIMEOUT_MS = 10_000;
const CHALLENGE_MAX = 2_000;

/**
 * Makes a fetch for one origin. Node's own fetch shares its sockets with the whole process, ends a response after five
 * minutes without data, and does not report whether a request was sent. This one throws `CredentialRefused` on a 401,
 * `ForeignOrigin` for another origin, and system errors otherwise. It does not follow redirects.
 */
export function createHttpFetch({
  origin,
  bounds,
  exchanges,
  onChangesDropped,
  proofKey,
}: HttpFetchOptions): HttpFetch {
  const isSecure = origin.startsWith('https:');
  const settings = { keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX, timeout: IDLE_SOCKET_MS };
  const proofs = proofKey === undefined ? undefined : createProofs(proofKey);
  const agent = isSecure ? new SecureAgent(settings) : new Agent(settings);

  const fetch: FetchLike = async (input, init = {}) => {
    const url = new URL(input);
    if (url.origin !== origin) throw new ForeignOrigin();
    init.signal?.throwIfAborted();
    const exchange = exchanges.getStore();
    const incoming = await sendProven(url, init, exchange);
    const response = responseOf(incoming, () => {
      const error = new MessageTooLarge();
      exchange?.fail(error);
      return error;
    });
    const refusal = refusalOf(response);
    if (refusal === undefined) return response;
    incoming.destroy();
    throw new CredentialRefused(refusal);
  };

  /**
   * Sends a request, and repeats it once if its proof lacks the nonce that the server demands. The server has not executed such
   * a request.
   */
  async function sendProven(url: URL, init: RequestInit, exchange: Exchange | undefined) {
    if (proofs === undefined) return send(url, init, exchange);
    const proven = await proofs.proven(url, init);
    const first = await send(url, proven.init, exchange);
    if (!proofs.wantsNonce(first, proven)) return first;
    // The body of the first reply may be endless.
    first.on('error', () => undefined).destroy();
    const again = await proofs.proven(url, init);
    const second = await send(url, again.init, exchange);
    proofs.wantsNonce(second, again);
    return second;
  }

  function send(url: URL, init: RequestInit, exchange: Exchange | undefined): Promise<IncomingMessage> {
    const method = init.method ?? 'GET';
    const headers = Object.fromEntries(new Headers(init.headers));
    const outgoing = (isSecure ? secureRequest : request)(url, { method, headers, agent });
    const { signal } = init;
    // All requests under way share the transport's signal.
    if (signal != null) setMaxListeners(0, signal);
    return new Promise((resolve, reject) => {
      // Node's `signal` option is not used: it destroys the socket with an error for which no listener is left once the agent
      // is destroyed.
      const end = (why: unknown) => {
        outgoing.destroy();
        reject(why);
      };
      const onAbort = () => end(signal?.reason);
      const isNotification = exchange === undefined && method === 'POST';
      const timer = isNotification
        ? setTimeout(() => end(new Error('no reply')), NOTIFICATION_TIMEOUT_MS)
        : undefined;
      signal?.addEventListener('abort', onAbort, { once: true });
      outgoing.once('close', () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      });
      outgoing.once('socket', (socket) => {
        const onConnected = () => {
          if (exchange !== undefined) exchange.dispatched = true;
        };
        if (socket.connecting) socket.once(isSecure ? 'secureConnect' : 'connect', onConnected);
        else onConnected();
      });
      outgoing.once('response', (incoming) => {
        clearTimeout(timer);
        resolve(incoming);
      });
      outgoing.on('error', reject);
      outgoing.end(typeof init.body === 'string' ? init.body : undefined);
    });
  }

  function responseOf(incoming: IncomingMessage, tooLarge: () => Error): Response {
    const { statusCode: status = 0, rawHeaders } = incoming;
    // The reader of the body receives its errors. Without a reader, an error must not end the process.
    incoming.on('error', () => undefined);
    const headers = new Headers();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2)
      headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
    if ([204, 205, 304].includes(status)) {
      incoming.resume();
      return new Response(null, { status, headers });
    }
    const areEvents = headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
    const chunks = limitBytes(incoming, { ...bounds, areEvents, tooLarge });
    let reader: ReadableStreamDefaultController<string> | undefined;
    const notes = createNoteLimit({
      release: (kept) => reader?.enqueue(kept.join('')),
      onChangesDropped,
    });
    const messages = areEvents ? limitedEvents(chunks, notes) : limitedBody(chunks);
    const body = new ReadableStream<string>({
      start: (controller) => {
        reader = controller;
      },
      pull: async (controller) => {
        const { done, value } = await messages.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      // Ending the generator would first wait for a chunk that may never arrive.
      cancel: () => {
        reader = undefined;
        incoming.destroy();
      },
    });
    return new Response(body.pipeThrough(new TextEncoderStream()), { status, headers });
  }

  return { fetch, close: () => agent.destroy() };
}

/** Passes on a whole body, with a limit on its depth. */
async function* limitedBody(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  for await (const chunk of chunks) parts.push(decoder.decode(chunk, { stream: true }));
  yield limitDepth(parts.join('') + decoder.decode());
}

/** Passes on the events of a stream, with a limit on the depth of each and on the rate of notes. */
async function* limitedEvents(chunks: AsyncIterable<Uint8Array>, notes: NoteLimit): AsyncGenerator<string> {
  const events = createEventSplitter();
  const limit = (event: string): string[] => {
    const data = dataOf(event);
    const limited = limitDepth(data);
    return notes.take(limited, limited === data ? event : withData(event, limited));
  };
  try {
    for await (const chunk of chunks) yield events.take(chunk).flatMap(limit).join('');
    yield [...notes.end(), events.rest()].join('');
  } finally {
    notes.end();
  }
}

function refusalOf(response: Response): CredentialRefused['refusal'] | undefined {
  if (response.status !== 401 && response.status !== 403) return undefined;
  const challenges = response.headers.get('www-authenticate');
  const named = new Headers(challenges === null ? {} : { 'www-authenticate': bearerFirst(challenges) });
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(
    new Response(null, { status: response.status, headers: named }),
  );
  if (response.status === 403 && error !== 'insufficient_scope') return undefined;
  const challenge = challenges?.slice(0, CHALLENGE_MAX);
  return {
    type: 'unauthorized',
    status: response.status,
    ...(challenge !== undefined && { wwwAuthenticate: challenge }),
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl: resourceMetadataUrl.href }),
    ...(scope !== undefined && { scope }),
  };
}

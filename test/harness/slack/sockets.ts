import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { waitUntil } from '../wait-until.ts';
import type { Json } from './state.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const FINAL = 0x80;
const TEXT = 0x1;
const PING = 0x9;
const PONG = 0xa;
/** An app closes a connection without a ping of Slack after 30 seconds. */
const PING_MS = 5_000;
/** Slack wants an acknowledgement in three seconds. A busy machine may take longer, which is no fault of the app. */
const ACK_MS = 30_000;
const RETRIES_MAX = 3;

/** The WebSockets that pods of an app have opened in Socket Mode. */
export interface Sockets {
  /** Ids of the envelopes that were acknowledged. */
  readonly acknowledged: string[];
  /** Called with each payload that `deliver` sends. True ends the connection right after it, before an acknowledgement. */
  endsAfter: ((payload: Json) => boolean) | undefined;
  readonly size: () => number;
  /**
   * Sends an envelope over one of the connections, and resolves with the payload of its acknowledgement. Where none comes in
   * time, or the connection ends before: an event is sent again over another one, and an interaction has failed, as in Slack.
   */
  deliver(type: 'events_api' | 'interactive', payload: Json): Promise<Json | undefined>;
  /** Ends the connections that are open. */
  cut(): void;
  stop(): void;
}

/** Takes the connections of a server, and sends each of them these envelopes first. */
export function createSockets(server: Server, greeting: readonly Json[] = []): Sockets {
  const open = new Set<Duplex>();
  const replies = new Map<string, Json>();
  let next = 0;

  function take(request: IncomingMessage, socket: Duplex): void {
    const key = `${request.headers['sec-websocket-key']}${GUID}`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    for (const one of [{ type: 'hello', num_connections: 1 }, ...greeting]) write(socket, one);
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (data: Buffer) => {
      const read = framesIn(Buffer.concat([rest, data]));
      rest = read.rest;
      for (const frame of read.frames) handle(socket, frame);
    });
  }

  function handle(socket: Duplex, { opcode, payload }: Frame): void {
    if (opcode === PING) socket.write(frameOf(PONG, payload));
    // A connection that was ended after an envelope takes no acknowledgement any more, however fast the pod was.
    if (opcode !== TEXT || !open.has(socket)) return;
    const { envelope_id, payload: reply } = JSON.parse(payload.toString('utf8')) as {
      readonly envelope_id: string;
      readonly payload?: Json;
    };
    replies.set(envelope_id, reply ?? {});
    sockets.acknowledged.push(envelope_id);
  }

  server.on('upgrade', take);
  const pinging = setInterval(() => {
    for (const socket of open) socket.write(frameOf(PING, Buffer.alloc(0)));
  }, PING_MS).unref();

  const sockets: Sockets = {
    acknowledged: [],
    endsAfter: undefined,
    size: () => open.size,
    async deliver(type, payload) {
      const envelope = {
        type,
        envelope_id: randomUUID(),
        payload,
        accepts_response_payload: type !== 'events_api',
      };
      for (let attempt = 0; ; attempt += 1) {
        await waitUntil(() => open.size > 0, { what: 'a connection of the app' });
        next += 1;
        const socket = [...open][next % open.size] as Duplex;
        const retry = attempt === 0 ? {} : { retry_attempt: attempt, retry_reason: 'timeout' };
        const isLast = sockets.endsAfter?.(payload) === true;
        write(socket, { ...envelope, ...retry });
        if (isLast) {
          open.delete(socket);
          socket.end();
        }
        const isOver = () => replies.has(envelope.envelope_id) || !open.has(socket);
        await waitUntil(isOver, { what: 'the acknowledgement', timeoutMs: ACK_MS }).catch(() => undefined);
        const reply = replies.get(envelope.envelope_id);
        if (reply !== undefined) return Object.keys(reply).length === 0 ? undefined : reply;
        if (type === 'interactive' || attempt === RETRIES_MAX) throw new Error('not acknowledged');
      }
    },
    cut() {
      for (const socket of open) socket.destroy();
    },
    stop() {
      clearInterval(pinging);
      sockets.cut();
    },
  };
  return sockets;
}

interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

function write(socket: Duplex, message: Json): void {
  socket.write(frameOf(TEXT, Buffer.from(JSON.stringify(message))));
}

/** A payload of up to 64 kB as a frame of a server (RFC 6455, section 5.2). */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const size = length < 126 ? [length] : [126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([FINAL | opcode, ...size]), payload]);
}

/** The complete masked frames of a client, and the beginning of the next one. */
function framesIn(data: Buffer): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  for (;;) {
    const short = (data[at + 1] ?? 0) & 0x7f;
    const start = at + (short === 126 ? 4 : 2);
    if (data.length < start + 4) break;
    const length = short === 126 ? data.readUInt16BE(at + 2) : short;
    const end = start + 4 + length;
    if (data.length < end) break;
    const mask = data.subarray(start, start + 4);
    const payload = data.subarray(start + 4, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
    frames.push({ opcode: (data[at] ?? 0) & 0xf, payload: Buffer.from(payload) });
    at = end;
  }
  return { frames, rest: data.subarray(at) };
}

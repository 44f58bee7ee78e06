import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { listenOnFreePort } from '../free-port.ts';
import type { Json } from './state.ts';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const TEXT = 0x81;

/** The Socket Mode side of the stand-in: `apps.connections.open`, and a WebSocket that sends these envelopes to each client. */
export async function startSocketMode(envelopes: readonly Json[]) {
  const acknowledged: string[] = [];
  const tokens: (string | undefined)[] = [];
  const sockets = new Set<Duplex>();
  let refusals = 0;
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.setHeader('content-type', 'application/json');
    refusals -= 1;
    if (refusals >= 0) response.end('{"ok":false,"error":"invalid_auth"}');
    else response.end(JSON.stringify({ ok: true, url: `ws://127.0.0.1:${port}/link` }));
  });
  server.on('upgrade', (request, socket) => {
    sockets.add(socket);
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${GUID}`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    for (const one of [{ type: 'hello', num_connections: 1 }, ...envelopes])
      socket.write(frameOf(JSON.stringify(one)));
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      for (const text of textsIn(data)) acknowledged.push(String((JSON.parse(text) as Json).envelope_id));
    });
  });
  const port = await listenOnFreePort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    /** Ids of the envelopes that were acknowledged. */
    acknowledged,
    /** What `apps.connections.open` was called with. */
    tokens,
    /** Refuses the next so many connections. */
    refuse(times: number) {
      refusals = times;
    },
    /** Ends the connections that are open. */
    cut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A text of up to 64 kB as a frame of a server (RFC 6455, section 5.2). */
function frameOf(text: string): Buffer {
  const payload = Buffer.from(text);
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([TEXT, ...length]), payload]);
}

/** The texts of the masked frames of a client that came together; other frames are left out. */
function textsIn(data: Buffer): string[] {
  const texts: string[] = [];
  let at = 0;
  while (at + 6 <= data.length) {
    const short = (data[at + 1] ?? 0) & 0x7f;
    const start = at + (short === 126 ? 4 : 2);
    const length = short === 126 ? data.readUInt16BE(at + 2) : short;
    const mask = data.subarray(start, start + 4);
    const payload = data
      .subarray(start + 4, start + 4 + length)
      .map((byte, index) => byte ^ (mask[index % 4] ?? 0));
    if (data[at] === TEXT) texts.push(Buffer.from(payload).toString('utf8'));
    at = start + 4 + length;
  }
  return texts;
}

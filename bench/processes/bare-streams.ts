import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { backendSettings, readEnv } from '@parley/shared/config/env';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisElicitations } from '@parley/shared/redis/elicitations/elicitations';
import { Redis } from 'ioredis';
import { jwtVerify } from 'jose';

/**
 * The floor of an event stream: bare node:http that checks a token, reads one page, subscribes, and writes. It has no limits,
 * places, budgets, request ids or telemetry, never looks again, and passes a wake on without a read of what it tells.
 * `/inbox` follows the person in the token, and `/streams/ID?userId=USER` the stream request of a person.
 */
const url = process.env.REDIS_URL ?? '';
const redis = connectCommands({ kind: 'single', url });
const subscriber = new Redis(url);
const elicitations = createRedisElicitations({ redis, settings: backendSettings(readEnv('api', {})) });
const hmac = { name: 'HMAC', hash: 'SHA-256' };
const secret = Buffer.from(process.env.PARLEY_JWT_SECRET ?? '');
const imported = crypto.subtle.importKey('raw', secret, hmac, false, ['verify']);
const HEARTBEAT_MS = readEnv('api', {}).PARLEY_HEARTBEAT_MS;
const SLOTS = 16;

const readers = new Map<string, Set<ServerResponse>>();
const beats = Array.from({ length: SLOTS }, () => new Set<ServerResponse>());
let slot = 0;
setInterval(() => {
  slot = (slot + 1) % SLOTS;
  for (const reader of beats[slot] ?? []) reader.write(': heartbeat\n');
}, HEARTBEAT_MS / SLOTS);

subscriber.on('message', (channel, wake: string) => {
  const [position, , json] = wake.split(' ', 3);
  for (const reader of readers.get(channel) ?? [])
    reader.write(`id: ${position}\nevent: elicitation-resolved\ndata: ${json}\n\n`);
});

const server = createServer((req, res) => void follow(req, res));
redis.once('ready', () => server.listen(0, '127.0.0.1'));
server.once('listening', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ listening: true, port })}\n`);
});

async function follow(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const bearer = String(req.headers.authorization).slice(7);
  const { searchParams, pathname } = new URL(String(req.url), 'http://localhost');
  const channel = searchParams.get('channel') ?? pathname;
  const known = readers.get(channel) ?? new Set();
  readers.set(channel, known.add(res));
  const { payload } = await jwtVerify(bearer, await imported, { algorithms: ['HS256'] });
  await subscriber.subscribe(channel);
  const owner = { tenant: String(payload.tenant), userId: String(payload.sub) };
  const { rows } = await elicitations.page({ owner, limit: 20 });
  res.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  res.write(`retry: 1000\nevent: inbox-snapshot\ndata: ${JSON.stringify(rows)}\n\n`);
  beats[slot]?.add(res);
}

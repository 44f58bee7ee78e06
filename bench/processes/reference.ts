import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { backendSettings, readEnv } from '@parley/shared/config/env';
import type { AnswerCommand } from '@parley/shared/domain/elicitations/commands';
import { toWire } from '@parley/shared/domain/elicitations/row';
import { transition } from '@parley/shared/domain/elicitations/transition';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisElicitations } from '@parley/shared/redis/elicitations/elicitations';
import { jwtVerify } from 'jose';

/**
 * What a settle over HTTP must cost at least: bare node:http, one token check, one read, one validation, one script.
 * No limits, no request ids, no telemetry, no error handling. Keys and arguments of the scripts are the product's.
 */
const redis = connectCommands({ kind: 'single', url: process.env.REDIS_URL ?? '' });
const elicitations = createRedisElicitations({ redis, settings: backendSettings(readEnv('api', {})) });
const hmac = { name: 'HMAC', hash: 'SHA-256' };
const secret = Buffer.from(process.env.PARLEY_JWT_SECRET ?? '');
const imported = crypto.subtle.importKey('raw', secret, hmac, false, ['verify']);

const server = createServer((req, res) => void answer(req, res));
redis.once('ready', () => server.listen(0, '127.0.0.1'));
server.once('listening', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ listening: true, port })}\n`);
});

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { payload } = await jwtVerify(String(req.headers.authorization).slice(7), await imported, {
    algorithms: ['HS256'],
  });
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  const { action, content } = JSON.parse(Buffer.concat(chunks).toString()) as {
    readonly action: AnswerCommand['type'];
    readonly content: unknown;
  };
  const { row, now } = await elicitations.read(String(req.url).split('/')[3] ?? '');
  if (row === undefined || row.definition.userId !== payload.sub) return void res.writeHead(404).end();
  const decision = transition(row, { type: action, content, surface: 'api' }, now);
  if (decision.type !== 'commit') return void res.writeHead(409).end();
  const settled = await elicitations.commit(row, decision.step);
  if (!settled.committed || settled.row === undefined) return void res.writeHead(409).end();
  const text = JSON.stringify(toWire(settled.row, { now: settled.now, content: true }));
  res
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

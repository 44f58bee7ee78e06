import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { checkFormAnswer } from '@parley/shared/domain/forms/answer';
import {
  channelName,
  deadlinesKey,
  elicitationKey,
  feedKey,
  historyKey,
  inboxKey,
} from '@parley/shared/redis/client/keys';
import { Redis } from 'ioredis';
import { jwtVerify } from 'jose';

/**
 * What a settle over HTTP must cost at least: bare node:http, one token check, one read, one validation, one script.
 * No limits, no request ids, no telemetry, no error handling worth the name.
 */
const redis = new Redis(process.env.REDIS_URL ?? '');
const secret = new TextEncoder().encode(process.env.PARLEY_JWT_SECRET ?? '');
const script = (name: string) =>
  readFileSync(new URL(`../../shared/src/redis/${name}.lua`, import.meta.url), 'utf8');
redis.defineCommand('readRow', { numberOfKeys: 1, lua: script('elicitations/read') });
redis.defineCommand('commitRow', { numberOfKeys: 5, lua: script('elicitations/commit') });
const commands = redis as unknown as Record<
  'readRow' | 'commitRow',
  (...args: (string | number)[]) => Promise<unknown[]>
>;

const server = createServer((req, res) => void answer(req, res));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ listening: true, port })}\n`);
});

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { payload } = await jwtVerify(String(req.headers.authorization).slice(7), secret, {
    algorithms: ['HS256'],
  });
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { action: string; content: unknown };
  const id = String(req.url).split('/')[3] ?? '';
  const [, ...fields] = await commands.readRow(elicitationKey(id));
  const definition = JSON.parse(String(fields[fields.indexOf('definition') + 1])) as never as {
    tenant: string;
    userId: string;
    streamRequestId: string;
    requestedSchema: never;
  };
  const checked = checkFormAnswer(definition.requestedSchema, body.content);
  if (!checked.ok || definition.userId !== payload.sub) return void res.writeHead(400).end();
  const settlement = JSON.stringify({ action: 'accept', content: checked.content });
  const event = JSON.stringify({ elicitationId: id, revision: 2, status: 'accepted' });
  const { tenant, userId, streamRequestId } = definition;
  await commands.commitRow(
    elicitationKey(id),
    feedKey(definition),
    inboxKey(definition),
    historyKey(definition),
    deadlinesKey(Number(id.slice(3, 5))),
    ...[
      1,
      'open',
      id,
      'accepted',
      1,
      'elicitation-resolved',
      event,
      `{"elicitationId":"${id}","settlement":${settlement}}`,
    ],
    channelName('stream', { tenant, userId, streamRequestId }),
    channelName('inbox', { tenant, userId }),
    ...[86_400_000, 10_000, settlement, 1_000],
  );
  const text = JSON.stringify({ ...definition, status: 'accepted', content: checked.content });
  res
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

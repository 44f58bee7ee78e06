import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCors } from '../../../services/api/src/http/cors.ts';
import type { Surface } from '../../../services/api/src/http/route.ts';
import { sendEmpty } from '../../../services/api/src/http/send.ts';
import { type AiSdkDeps, aiSdkRoutes } from '../../../services/api/src/surfaces/ai-sdk/routes.ts';
import { type RestDeps, restRoutes } from '../../../services/api/src/surfaces/rest/routes.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';

const PAGE = 'https://page.example';
const NOTHING = {} as RestDeps & AiSdkDeps;
const ALWAYS = [restRoutes(NOTHING), aiSdkRoutes(NOTHING)];
const MORE: Surface = {
  routes: [],
  browserHeaders: { request: ['mcp-session-id', 'idempotency-key'], response: ['mcp-session-id'] },
};

const today = createCors([PAGE], ALWAYS);
const extended = createCors([PAGE], [...ALWAYS, MORE]);
const local = createCors(['http://localhost:*'], ALWAYS);
const CORS = new Map([
  ['/more', extended],
  ['/local', local],
]);
const server = createServer((req, res) => {
  if (!(CORS.get(`${req.url}`) ?? today)(req, res)) sendEmpty(res, 200);
});
let base: string;

beforeAll(async () => {
  base = `http://127.0.0.1:${await listenOnFreePort(server)}`;
});
afterAll(() => void server.close());

async function corsHeaders(path: string, method: string) {
  const { status, headers } = await fetch(base + path, { method, headers: { origin: PAGE } });
  const given = [...headers].filter(([name]) => name.startsWith('access-control-'));
  return { status, headers: Object.fromEntries(given) };
}

it('allows the headers that the surfaces of every pod declare', async () => {
  expect(await corsHeaders('/', 'OPTIONS')).toEqual({
    status: 204,
    headers: {
      'access-control-allow-origin': PAGE,
      'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
      'access-control-allow-headers':
        'authorization, content-type, idempotency-key, last-event-id, x-parley-delivery, x-request-id, x-supports-elicitation, x-supports-pages',
      'access-control-expose-headers': 'idempotent-replayed, retry-after, x-conversation-id, x-request-id',
      'access-control-max-age': '600',
    },
  });
});

it.each([
  ['http://localhost:5173', true],
  ['http://localhost', true],
  ['https://localhost:5173', false],
  ['http://localhost.evil.example:5173', false],
  ['http://127.0.0.1:5173', false],
])('with any port of localhost, %s is allowed: %s', async (origin, isAllowed) => {
  const { headers } = await fetch(`${base}/local`, { headers: { origin } });
  expect(headers.get('access-control-allow-origin')).toBe(isAllowed ? origin : null);
});

it('allows the headers of one more surface, each once', async () => {
  const { headers } = await corsHeaders('/more', 'OPTIONS');
  expect(headers['access-control-allow-headers']).toBe(
    'authorization, content-type, idempotency-key, last-event-id, mcp-session-id, x-parley-delivery, x-request-id, x-supports-elicitation, x-supports-pages',
  );
  expect((await corsHeaders('/more', 'GET')).headers['access-control-expose-headers']).toBe(
    'idempotent-replayed, mcp-session-id, retry-after, x-conversation-id, x-request-id',
  );
});

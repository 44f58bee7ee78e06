import { createServer } from 'node:http';
import { readEnv } from '@parley/shared/runtime/env';
import { expect, it } from 'vitest';
import { createAuthentication } from '../../../services/api/src/wiring/authentication.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { userToken } from '../../harness/tokens.ts';

const SECRET = 'a-secret-of-at-least-thirty-two-characters';

/** Which audiences a check accepts. */
async function acceptedBy(authenticate: ReturnType<typeof createAuthentication>): Promise<string[]> {
  const server = createServer(async (req, res) => {
    const isAccepted = await authenticate(req).then(
      () => true,
      () => false,
    );
    res.writeHead(isAccepted ? 200 : 401).end();
  });
  const port = await listenOnFreePort(server);
  const accepted: string[] = [];
  for (const aud of ['api', 'https://parley.example/run/v1/mcp', 'other']) {
    const token = await userToken({ secret: SECRET, userId: 'ada', claims: { aud } });
    const reply = await fetch(`http://127.0.0.1:${port}`, { headers: { authorization: `Bearer ${token}` } });
    if (reply.ok) accepted.push(aud);
  }
  server.close();
  return accepted;
}

it('tokens are accepted for the audience of the MCP endpoint there, and for that of the API elsewhere [SEC-06]', async () => {
  const base = { PARLEY_JWT_SECRET: SECRET, PARLEY_JWT_AUDIENCE: 'api' };
  const env = readEnv('api', { ...base, PARLEY_MCP_AUDIENCE: 'https://parley.example/run/v1/mcp' });
  expect(await acceptedBy(createAuthentication(env, env.PARLEY_MCP_AUDIENCE))).toEqual([
    'https://parley.example/run/v1/mcp',
  ]);
  expect(await acceptedBy(createAuthentication(env))).toEqual(['api']);
  const same = readEnv('api', base);
  expect(await acceptedBy(createAuthentication(same, same.PARLEY_MCP_AUDIENCE))).toEqual(['api']);
});

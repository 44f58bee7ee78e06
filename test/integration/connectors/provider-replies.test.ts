import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { connectorTo, endpointsOf } from '../../harness/connect/connectors-setup.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import {
  DEFINITE_REFUSALS,
  PASSING_FAILURES,
  type ProviderReply,
  TOKEN_REPLIES,
} from './provider-replies.ts';

const STORED = {
  kind: 'oauth2',
  accessToken: 'old-access',
  tokenType: 'Bearer',
  refreshToken: 'old-refresh',
  scope: 'x y',
} as const;

/** Refreshes a stored credential at a token endpoint that sends this reply. */
async function refreshWith({ status = 200, headers = {}, body }: ProviderReply) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const server = createServer((_req, res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  const issuer = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  onTestFinished(() => void server.close());
  return connectorTo({ issuer }, { server: endpointsOf({ issuer }) }).refresh(STORED);
}

it.each(DEFINITE_REFUSALS)('after $what the person is asked to connect again', async (reply) => {
  expect(await refreshWith(reply)).toMatchObject({ type: 'failed', code: 'invalid_grant' });
});

it.each(PASSING_FAILURES)('after $what the credential is kept and tried again', async (reply) => {
  expect(await refreshWith(reply)).toMatchObject({ type: 'failed', code: 'unavailable' });
});

it.each(TOKEN_REPLIES)('a new token is read from $what', async ({ stored, ...reply }) => {
  const { expires, ...members } = { expires: undefined, ...stored };
  const result = await refreshWith(reply);
  expect(result).toMatchObject({ type: 'refreshed', credential: { accessToken: 'new-access', ...members } });
  if (expires === undefined || result.type !== 'refreshed') return;
  expect('expiresAt' in result.credential).toBe(expires);
});

import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { begin, connectorTo, finishWithCode, startOddReplies } from '../../harness/pages/connectors-setup.ts';
import { CONTEXT } from '../../harness/pages/sightings.ts';

const STORED = {
  kind: 'oauth2',
  accessToken: 'a',
  tokenType: 'Bearer',
  refreshToken: 'r',
  scope: 'x y',
} as const;

const failed = (code: string) => ({ type: 'failed', code });

describe('a token endpoint', () => {
  const token = { access_token: 'fine', token_type: 'bearer' };

  test.each([
    ['no token', JSON.stringify({ token_type: 'bearer' }), 'provider_error'],
    ['another type of token', JSON.stringify({ ...token, token_type: 'mac' }), 'provider_error'],
    ['a token bound to a key we lack', JSON.stringify({ ...token, token_type: 'dpop' }), 'provider_error'],
    ['a token that breaks headers', JSON.stringify({ ...token, access_token: 'a\r\nb' }), 'provider_error'],
    ['a page', '<html>', 'provider_error'],
    ['more than it should', JSON.stringify({ ...token, padding: 'x'.repeat(600_000) }), 'unavailable'],
  ])('that answers %s', async (_what, body, code) => {
    expect(await finishWithCode((await startOddReplies({ body })).connector)).toMatchObject(failed(code));
  });

  test('that reports an error with status 200 is handled as an error', async () => {
    const body = JSON.stringify({ error: 'bad_refresh_token' });
    const { connector } = await startOddReplies({ body });
    expect(await connector.refresh(STORED)).toMatchObject(failed('invalid_grant'));
  });

  test('that sends no refresh token keeps the old one and its scopes', async () => {
    const body = JSON.stringify({ ...token, expires_in: 60 });
    const { connector } = await startOddReplies({ body });
    expect(await connector.refresh(STORED)).toMatchObject({
      type: 'refreshed',
      credential: { accessToken: 'fine', refreshToken: 'r', scope: 'x y' },
    });
  });

  test('that redirects is not followed', async () => {
    const thief = await startOddReplies({ body: JSON.stringify(token) });
    const odd = await startOddReplies({
      status: 307,
      headers: { location: `${thief.issuer}/token` },
      body: '',
    });
    expect(await finishWithCode(odd.connector)).toMatchObject(failed('provider_error'));
    expect(odd.calls).toEqual(['/token']);
    expect(thief.calls).toEqual([]);
  });
});

describe('discovery', () => {
  test.each<[string, object, string?]>([
    ['names another issuer', { issuer: 'https://evil.example' }, 'bad_issuer'],
    ['sends people to plain http', { authorization_endpoint: 'http://evil.example/auth' }],
    ['sends people to a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['sends secrets to plain http', { token_endpoint: 'http://evil.example/token' }],
    ['has no endpoints', { authorization_endpoint: undefined, token_endpoint: undefined }],
  ])('that %s is refused', async (_what, lie, code = 'unavailable') => {
    const reply = { body: '' };
    const odd = await startOddReplies(reply);
    const { issuer } = odd;
    const endpoints = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
    reply.body = JSON.stringify({ issuer, ...endpoints, ...lie });
    const connector = connectorTo(odd);
    expect(await connector.begin(CONTEXT)).toMatchObject(failed(code));
    const detail = expect.stringMatching(code === 'bad_issuer' ? /names another issuer/ : /cannot be had/);
    expect(await connector.refresh(STORED)).toMatchObject({ code: 'unavailable', detail });
  });
});

test('the metadata of a server without OpenID Connect is found where RFC 8414 puts it', async () => {
  const server = createServer((req, res) => {
    const issuer = `http://${req.headers.host}/tenant`;
    const known = req.url === '/.well-known/oauth-authorization-server/tenant';
    const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
    res.writeHead(known ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
  });
  const issuer = `http://127.0.0.1:${await listenOnFreePort(server)}/tenant`;
  onTestFinished(() => void server.close());
  const connector = connectorTo({ issuer });
  expect((await begin(connector)).url).toContain(`${issuer}/auth?`);
});

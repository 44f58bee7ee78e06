import { describe, expect, test } from 'vitest';
import { canary } from '../../harness/canary.ts';
import {
  CLIENT,
  connect,
  connectorTo,
  endpointsOf,
  startServer,
  tampered,
  tokensOf,
  tokenVerifier,
  walk,
} from '../../harness/pages/connectors-setup.ts';
import { sightings } from '../../harness/pages/sightings.ts';

const failed = (code: string) => ({ type: 'failed', code });

describe('a callback', () => {
  test('of which a parameter was changed or taken away is refused, before its code leaves', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const { callback, callbackState } = await walk(connector);
    for (const [name, value, code] of [
      ['state', 'x'.repeat(43), 'bad_state'],
      ['state', undefined, 'bad_state'],
      ['state', '', 'bad_state'],
      ['iss', 'https://evil.example', 'bad_issuer'],
      ['iss', undefined, 'bad_issuer'],
      ['iss', '', 'bad_issuer'],
      ['code', undefined, 'provider_error'],
    ] as const) {
      const url = tampered(callback, name, value);
      const result = await connector.finish({ type: 'callback', url }, callbackState);
      expect(result, `${name}: ${value}`).toMatchObject(failed(code));
    }
    expect(server.tokenCalls('authorization_code')).toBe(0);
    const url = tampered(callback, 'code', 'made-up');
    expect(await connector.finish({ type: 'callback', url }, callbackState)).toMatchObject(
      failed('provider_error'),
    );
  });

  test('that names a parameter twice is refused', async () => {
    const connector = connectorTo(await startServer());
    const { callback, callbackState } = await walk(connector);
    for (const [name, code] of [
      ['state', 'bad_state'],
      ['iss', 'bad_issuer'],
      ['code', 'provider_error'],
    ] as const) {
      const again = `${callback}&${name}=${new URL(callback).searchParams.get(name)}`;
      expect(await connector.finish({ type: 'callback', url: again }, callbackState)).toMatchObject(
        failed(code),
      );
    }
  });

  test('without iss is accepted where the server never sends one, and a wrong one is still refused', async () => {
    const server = await startServer();
    const connector = connectorTo(server, { server: endpointsOf(server) });
    const one = await walk(connector);
    const wrong = tampered(one.callback, 'iss', 'https://evil.example');
    expect(await connector.finish({ type: 'callback', url: wrong }, one.callbackState)).toMatchObject(
      failed('bad_issuer'),
    );
    const url = tampered(one.callback, 'iss', undefined);
    expect((await connector.finish({ type: 'callback', url }, one.callbackState)).type).toBe('connected');
  });

  test('is accepted without a check of iss where no issuer is configured', async () => {
    const server = await startServer();
    const { issuer: _issuer, ...endpoints } = endpointsOf(server);
    const connector = connectorTo(server, { server: endpoints });
    const { callback, callbackState } = await walk(connector);
    const url = tampered(callback, 'iss', 'https://login.example');
    expect((await connector.finish({ type: 'callback', url }, callbackState)).type).toBe('connected');
    expect(() => connectorTo(server, { server: endpoints, scopes: ['openid'] })).toThrow(TypeError);
  });

  test('of another flow, another connector or another kind is refused', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const [mine, theirs] = [await walk(connector), await walk(connector, 'bob')];
    expect(await connector.finish(theirs.input, mine.callbackState)).toMatchObject(failed('bad_state'));
    const other = connectorTo(server, { id: 'other' });
    expect(await other.finish(mine.input, mine.callbackState)).toMatchObject(failed('bad_state'));
    expect(await connector.finish(mine.input, {})).toMatchObject(failed('bad_state'));
    expect(await connector.finish({ type: 'form', secret: 'k' }, mine.callbackState)).toMatchObject(
      failed('bad_state'),
    );
    const event = { connectionId: 'c', flowId: 'f', tenant: 't' };
    expect(await connector.finish({ type: 'event', event }, mine.callbackState)).toMatchObject(
      failed('bad_state'),
    );
    expect(await connector.finish({ type: 'callback', url: 'http://[' }, mine.callbackState)).toMatchObject(
      failed('bad_state'),
    );
    expect(server.tokenCalls('authorization_code')).toBe(0);
  });

  test('cannot use a code with another verifier (PKCE)', async () => {
    const connector = connectorTo(await startServer());
    const { input, callbackState } = await walk(connector);
    const verifier = 'v'.repeat(43);
    expect(await connector.finish(input, { ...callbackState, verifier })).toMatchObject(
      failed('provider_error'),
    );
  });

  test('that is replayed gives nothing, and the server revokes what it issued before', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const { input, callbackState } = await walk(connector);
    const first = await connector.finish(input, callbackState);
    expect(first.type).toBe('connected');
    const second = await connector.finish(input, callbackState);
    expect(second).toMatchObject({ ...failed('provider_error'), providerError: 'invalid_grant' });
    expect(server.reusedFamilies()).toHaveLength(1);
  });

  test('may arrive at another address than the registered one, as behind a proxy', async () => {
    const connector = connectorTo(await startServer());
    const { callback, callbackState } = await walk(connector);
    const url = `http://10.0.0.7:3000/inner/path${new URL(callback).search}`;
    expect((await connector.finish({ type: 'callback', url }, callbackState)).type).toBe('connected');
  });
});

describe('a provider', () => {
  test('where the person refuses gives consent_refused', async () => {
    const connector = connectorTo(await startServer());
    const { input, callbackState } = await walk(connector, 'ada', 'refuse');
    expect(await connector.finish(input, callbackState)).toMatchObject(failed('consent_refused'));
  });

  test('that answers with an error', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    for (const error of ['server_error', 'temporarily_unavailable', 'invalid_scope']) {
      const mend = server.misbehave({ at: 'authorization', status: 303, error });
      const { input, callbackState } = await walk(connector);
      mend();
      const expected = { ...failed('provider_error'), providerError: error };
      expect(await connector.finish(input, callbackState)).toMatchObject(expected);
    }
  });

  test('whose token endpoint fails is unavailable, and the flow can be begun again', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const { input, callbackState } = await walk(connector);
    const mend = server.misbehave({ at: 'token', status: 500 });
    expect(await connector.finish(input, callbackState)).toMatchObject(failed('unavailable'));
    mend();
    expect((await connect(connector)).type).toBe('connected');
  });

  test('whose token endpoint is too slow is unavailable', async () => {
    const server = await startServer();
    const patient = connectorTo(server, { server: endpointsOf(server) });
    const hasty = connectorTo(server, { server: endpointsOf(server), timeoutMs: 200 });
    const { input, callbackState } = await walk(patient);
    server.misbehave({ at: 'token', delayMs: 60_000, status: 500 });
    expect(await hasty.finish(input, callbackState)).toMatchObject(failed('unavailable'));
  });

  test('that fails at a refresh does not change the stored credential', async () => {
    const server = await startServer();
    const connector = connectorTo(server);
    const { credential } = await connect(connector);
    const mend = server.misbehave({ at: 'token', status: 503, error: 'temporarily_unavailable' });
    expect(await connector.refresh(credential)).toMatchObject(failed('unavailable'));
    mend();
    expect((await connector.refresh(credential)).type).toBe('refreshed');
  });

  test('that no longer knows our client is unavailable, and the user’s grant is kept', async () => {
    const server = await startServer();
    const { credential } = await connect(connectorTo(server));
    const misconfigured = connectorTo(server, { clientSecret: 'not-the-secret' });
    expect(await misconfigured.refresh(credential)).toMatchObject(failed('unavailable'));
    expect(await misconfigured.revoke(credential)).toBe('unavailable');
    expect((await tokenVerifier(server)(tokensOf({ credential }).accessToken))?.subject).toBe('ada');
  });
});

test('no failure contains a secret, even when the server repeats its input', async () => {
  const server = await startServer();
  const connector = connectorTo(server);
  const { credential } = await connect(connector);
  const planted = canary('token');
  const held = { ...tokensOf({ credential }), refreshToken: planted, accessToken: planted };
  const { callback, callbackState } = await walk(connector);
  const url = tampered(callback, 'code', planted);
  const known = { ...callbackState, verifier: `${planted}${'v'.repeat(20)}` };

  const failures: unknown[] = [];
  for (const status of [200, 400, 401, 500]) {
    const mend = server.misbehave({ at: 'token', status, reflect: true });
    failures.push(await connector.finish({ type: 'callback', url }, known), await connector.refresh(held));
    mend();
  }
  failures.push(await connector.finish({ type: 'callback', url: tampered(url, 'error', planted) }, known));
  failures.push(await connector.refresh({ ...held, refreshToken: `${planted}\r\n` }));
  failures.push(await connector.headersFor({ ...held, accessToken: `${planted}\r\n` }));
  expect(failures).toHaveLength(11);
  for (const one of failures) expect(one).toMatchObject({ type: 'failed' });
  expect(sightings(planted, ...failures)).toEqual([]);
  expect(sightings(CLIENT.clientSecret, connector, ...failures)).toEqual([]);
});

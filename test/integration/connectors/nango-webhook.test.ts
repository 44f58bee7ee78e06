import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createNangoConnector } from '../../../services/api/src/accounts/connectors/nango.ts';
import { CONTEXT } from '../../harness/pages/sightings.ts';
import { connected, INTEGRATION, SECRET_KEY, SIGNING_KEY, startWorld } from './nango-setup.ts';

const sign = (body: string, key = SIGNING_KEY) => createHmac('sha256', key).update(body).digest('hex');

describe('a webhook', () => {
  const body = JSON.stringify({
    type: 'auth',
    operation: 'creation',
    success: true,
    connectionId: 'c1',
    providerConfigKey: INTEGRATION,
    tags: { elicitation_id: CONTEXT.flowId, tenant: CONTEXT.tenant },
  });
  const changed = (change: object) => JSON.stringify({ ...JSON.parse(body), ...change });
  const connector = createNangoConnector({
    id: 'tracker',
    integration: INTEGRATION,
    secretKey: SECRET_KEY,
    webhookSigningKey: SIGNING_KEY,
  });
  const verdictOn = (text: string, headers: Record<string, string | string[]>) =>
    connector.webhook?.(Buffer.from(text), headers);

  test('is accepted when it is signed, whatever the case of the header', () => {
    expect(verdictOn(body, { 'X-Nango-Hmac-Sha256': sign(body) })).toEqual({
      type: 'event',
      eventId: 'c1:creation',
      event: { connectionId: 'c1', ...CONTEXT },
    });
  });

  test.each([
    ['without a signature', body, {}],
    ['with the signature of another body', body, { 'x-nango-hmac-sha256': sign(`${body} `) }],
    ['signed with another key', body, { 'x-nango-hmac-sha256': sign(body, SECRET_KEY) }],
    ['with half a signature', body, { 'x-nango-hmac-sha256': sign(body).slice(0, 32) }],
    ['with no hex', body, { 'x-nango-hmac-sha256': 'z'.repeat(64) }],
    ['signed twice', body, { 'x-nango-hmac-sha256': [sign(body), sign(body)] }],
    ['signed the old way', body, { 'x-nango-signature': sign(body) }],
    [
      'reformatted on the way',
      JSON.stringify(JSON.parse(body), null, 1),
      { 'x-nango-hmac-sha256': sign(body) },
    ],
  ])('%s is refused', (_what, text, headers) => {
    expect(verdictOn(text, headers)).toEqual({ type: 'refused', reason: 'signature' });
  });

  test.each([
    ['not JSON', 'no json', { type: 'refused', reason: 'body' }],
    ['a list', '[]', { type: 'refused', reason: 'body' }],
    ['of a sync', JSON.stringify({ type: 'sync' }), { type: 'ignored' }],
    ['of a failure', changed({ success: false }), { type: 'ignored' }],
    ['of a refresh', changed({ operation: 'refresh' }), { type: 'ignored' }],
    ['of another integration', changed({ providerConfigKey: 'else' }), { type: 'ignored' }],
    ['without our tags', changed({ tags: {} }), { type: 'ignored' }],
    ['without a connection', changed({ connectionId: '' }), { type: 'ignored' }],
  ])('that is %s does nothing', (_what, text, verdict) => {
    expect(verdictOn(text, { 'x-nango-hmac-sha256': sign(text) })).toEqual(verdict);
  });

  test('that is stale, or names another user’s connection, has no result', async () => {
    const world = await startWorld();
    const mine = await connected(world);
    const theirs = await connected(world, { flowId: 'el_00other', tenant: 'globex' });
    const finish = (event: object) =>
      world.connector.finish(
        { type: 'event', event: { ...mine.verdict.event, ...event } },
        mine.begun.callbackState,
      );
    const { connectionId } = theirs.credential;
    expect(await finish({ connectionId })).toMatchObject({ code: 'bad_state' });
    expect(await finish(theirs.verdict.event)).toMatchObject({ code: 'bad_state' });
    expect(await finish({ tenant: 'globex' })).toMatchObject({ code: 'bad_state' });
    expect(await finish({ connectionId: '../connections' })).toMatchObject({ code: 'provider_error' });
    await world.connector.revoke(mine.credential);
    expect(await finish({})).toMatchObject({ code: 'provider_error' });
  });
});

import { randomBytes } from 'node:crypto';
import { OPEN_STATUSES, STATUSES } from '@parley/core/domain/elicitations/status';
import { mintElicitationId } from '@parley/core/domain/ids';
import { EnvError, engineSettings, readEnv } from '@parley/shared/config/env';
import { webhookRules, webhookSecretsOf } from '@parley/shared/config/webhooks-env';
import { type Row, toWire } from '@parley/shared/domain/elicitations/row';
import { faultOfWebhook } from '@parley/shared/domain/webhooks/rules';
import {
  pauseAfter,
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_KEEP_MS,
  WEBHOOK_PAUSES_MS,
} from '@parley/shared/domain/webhooks/schedule';
import {
  isWebhookId,
  WEBHOOK_TYPES,
  WebhookEvent,
  webhookEventOf,
  webhookIdOf,
} from '@parley/shared/domain/webhooks/webhook';
import { signatureOf } from '@parley/shared/net/webhook-signature';
import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';

const OWNER = { tenant: 'acme', userId: 'ada' };
const HOOK = 'https://hooks.example/parley?key=1';
const secretOf = (bytes: number) => `whsec_${randomBytes(bytes).toString('base64')}`;
const bytesOf = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64');

describe('the signature', () => {
  // Two vectors that the libraries of Standard Webhooks and of its vendors are tested with.
  it.each([
    [
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      { webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' },
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    ],
    [
      'whsec_plJ3nmyCDGBKInavdOK15jsl',
      {
        webhookId: 'msg_loFOjxBNrRLzqYUf',
        timestamp: 1_731_705_121,
        body: '{"event_type":"ping","data":{"success":true}}',
      },
      'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
    ],
  ])('of the known example %s is the known one', (secret, input, signature) => {
    expect(signatureOf({ ...input, secrets: [bytesOf(secret)] })).toBe(signature);
  });

  it('of any body with any secrets is verified by each of these secrets, and by no other', async () => {
    const keys = fc.array(fc.uint8Array({ minLength: 24, maxLength: 64 }), { minLength: 1, maxLength: 4 });
    const client = new OpenAI({ apiKey: 'none' });
    await fc.assert(
      fc.asyncProperty(
        keys,
        fc.json(),
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        async (secrets, body, other) => {
          const timestamp = Math.floor(Date.now() / 1000);
          const webhookId = webhookIdOf(mintElicitationId(OWNER));
          const headers = {
            'webhook-id': webhookId,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': signatureOf({ webhookId, timestamp, body, secrets }),
          };
          const verify = (secret: Uint8Array, text = body) =>
            client.webhooks.verifySignature(text, headers, `whsec_${Buffer.from(secret).toString('base64')}`);
          for (const secret of secrets) await verify(secret);
          if (!secrets.some((secret) => Buffer.compare(secret, other) === 0))
            await expect(verify(other)).rejects.toThrow();
          await expect(verify(secrets[0] ?? other, `${body}\n`)).rejects.toThrow();
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('the schedule', () => {
  const attempt = fc.integer({ min: 1, max: WEBHOOK_ATTEMPTS_MAX + 3 });
  const random = fc.double({ min: 0, max: 1, noNaN: true });
  const retryAfterMs = fc.option(fc.integer({ min: 0, max: 1e12 }), { nil: undefined });

  it('is that of Standard Webhooks: ten attempts over three days', () => {
    const pauses = Array.from({ length: 9 }, (_, at) => pauseAfter({ attempt: at + 1, random: 0 }));
    const [second, minute, hour] = [1_000, 60_000, 3_600_000];
    expect(pauses).toEqual([
      ...[5 * second, 5 * minute, 30 * minute],
      ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour),
    ]);
    expect(pauseAfter({ attempt: 10, random: 0 })).toBeUndefined();
    expect(pauses.reduce<number>((sum, pause = 0) => sum + pause, 0)).toBe(
      75 * hour + 35 * minute + 5 * second,
    );
  });

  it('is never earlier than planned or requested, and never later than the next step plus jitter', () => {
    fc.assert(
      fc.property(attempt, random, retryAfterMs, (attempt, random, retryAfterMs) => {
        const pause = pauseAfter({ attempt, random, retryAfterMs });
        const planned = WEBHOOK_PAUSES_MS[attempt - 1];
        if (planned === undefined) return pause === undefined;
        const next = WEBHOOK_PAUSES_MS[attempt] ?? planned;
        const asked = Math.min(retryAfterMs ?? 0, next);
        return pause !== undefined && pause >= planned && pause >= asked && pause <= Math.round(next * 1.1);
      }),
    );
  });

  it('ends before the retention of the elicitation, whatever receivers request', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(random, retryAfterMs), { minLength: 10, maxLength: 10 }), (draws) => {
        const pauses = draws.map(
          ([random, retryAfterMs], at) => pauseAfter({ attempt: at + 1, random, retryAfterMs }) ?? 0,
        );
        return pauses.reduce((sum, pause) => sum + pause, 0) <= WEBHOOK_KEEP_MS - 86_400_000;
      }),
    );
  });

  it('spreads deliveries that fail together', () => {
    const pauses = new Set([0, 0.25, 0.5, 1].map((random) => pauseAfter({ attempt: 1, random })));
    expect([...pauses]).toEqual([5_000, 5_125, 5_250, 5_500]);
  });
});

describe('the event', () => {
  const row: Row = {
    id: mintElicitationId(OWNER),
    definition: {
      ...OWNER,
      streamRequestId: 'turn-1',
      conversationId: 'turn-1',
      mode: 'form',
      message: 'Go?',
      requestedSchema: { type: 'object', properties: {} },
      webhookUrl: HOOK,
      context: { trigger: 'agent' },
      timeoutSeconds: 600,
    },
    status: 'accepted',
    revision: 2,
    createdAt: 1_000_000,
    expiresAt: 1_600_000,
    settlement: { action: 'accept', content: { go: true }, surface: 'api' },
    settledAt: 1_234_567,
  };

  it('equals the GET result at the time of the outcome, and matches its own schema', () => {
    const event = webhookEventOf(row);
    expect(WebhookEvent.parse(event)).toEqual(event);
    expect(event).toEqual({
      type: 'elicitation.accepted',
      timestamp: new Date(1_234_567).toISOString(),
      data: toWire(row, { now: 1_234_567, content: true }),
    });
    expect(JSON.stringify(webhookEventOf(structuredClone(row)))).toBe(JSON.stringify(event));
  });

  it('has a type for every outcome, and none before', () => {
    const ended = STATUSES.filter((status) => !OPEN_STATUSES.includes(status as 'pending'));
    expect(WEBHOOK_TYPES).toEqual(ended.map((status) => `elicitation.${status}`));
    for (const status of ended)
      expect(webhookEventOf({ ...row, status })?.type).toBe(`elicitation.${status}`);
    const { settledAt: _, settlement: _none, ...open } = row;
    for (const status of OPEN_STATUSES) expect(webhookEventOf({ ...open, status })).toBeUndefined();
  });

  it('contains no answer to a sensitive question and no webhook URL', () => {
    const definition = { ...row.definition, sensitive: true as const };
    expect(webhookEventOf({ ...row, definition })?.data).not.toHaveProperty('content');
    for (const shown of [webhookEventOf(row), toWire(row, { now: 1, content: true })])
      expect(JSON.stringify(shown)).not.toContain('hooks.example');
  });

  it('has an id of its own, derived from the elicitation', () => {
    expect(webhookIdOf(row.id)).toBe(`msg_${row.id}`);
    expect(isWebhookId(webhookIdOf(row.id))).toBe(true);
    // A dot would allow another body under a valid signature.
    expect(webhookIdOf(row.id)).not.toContain('.');
    for (const id of ['', 'msg_', row.id, `msg_${row.id}x`, `msg_msg_${row.id}`, `${webhookIdOf(row.id)}\n`])
      expect(isWebhookId(id)).toBe(false);
  });
});

describe('the environment', () => {
  const [first, second, other] = [secretOf(24), secretOf(32), secretOf(64)];

  it('contains the secrets of each tenant, the newest first', () => {
    const secretsOf = webhookSecretsOf(
      readEnv('worker', { PARLEY_WEBHOOK_SECRETS: `acme:${first}, globex:${other},acme:${second}` }),
    );
    expect(secretsOf('acme')).toEqual([bytesOf(first), bytesOf(second)]);
    expect(secretsOf('globex')).toEqual([bytesOf(other)]);
    expect(secretsOf('nobody')).toEqual([]);
    expect(webhookSecretsOf(readEnv('api', {}))('acme')).toEqual([]);
  });

  it.each([
    ['no tenant', secretOf(32)],
    ['no prefix', `acme:${randomBytes(32).toString('base64')}`],
    ['too short a secret', `acme:${secretOf(23)}`],
    ['too long a secret', `acme:${secretOf(65)}`],
    ['something that is not base64', 'acme:whsec_not/base64*at-all-whatever-one-may-say'],
    ['base64 that is cut off', `acme:${secretOf(32).slice(0, -2)}`],
    ['an odd tenant', `ac me:${secretOf(32)}`],
    ['one good and one bad entry', `acme:${secretOf(32)},globex:whsec_`],
  ])('refuses %s, and does not repeat it', (_what, value) => {
    for (const service of ['api', 'worker'] as const) {
      let message = '';
      try {
        readEnv(service, { PARLEY_WEBHOOK_SECRETS: value });
      } catch (error) {
        expect(error).toBeInstanceOf(EnvError);
        message = (error as EnvError).message;
      }
      expect(message).toContain('PARLEY_WEBHOOK_SECRETS');
      expect(message).not.toContain(value.slice(-20));
    }
  });

  const faultOf = (env: Record<string, string>, webhookUrl: string, tenant = 'acme') =>
    faultOfWebhook(
      engineSettings(readEnv('worker', { PARLEY_WEBHOOK_SECRETS: `acme:${first}`, ...env })),
      tenant,
      { webhookUrl },
    );
  const production = { NODE_ENV: 'production', REDIS_URL: 'redis://redis:6379' };

  it('allows webhooks for a tenant with a secret, and names the missing variable for another', () => {
    expect(faultOf(production, HOOK)).toBeUndefined();
    expect(faultOf(production, HOOK, 'globex')).toContain('PARLEY_WEBHOOK_SECRETS');
    expect(faultOfWebhook({ allowLoopbackHttp: true }, 'acme', { webhookUrl: HOOK })).toContain('secret');
    expect(faultOfWebhook({ allowLoopbackHttp: true }, 'acme', {})).toBeUndefined();
  });

  it.each([
    ...[
      'http://hooks.example/',
      'http://127.0.0.1/',
      'ftp://hooks.example/',
      'https://u:p@hooks.example/',
      'hooks',
    ],
    ...['https://127.0.0.1/', 'https://127.1/', 'https://0x7f.1/', 'https://2130706433/', 'https://[::1]/'],
    ...['https://169.254.169.254/', 'https://10.0.0.1/', 'https://[::ffff:10.0.0.1]/', 'https://[fd00::1]/'],
    ...['https://localhost/', 'https://localhost:8443/', `https://hooks.example/${'a'.repeat(2_048)}`, ''],
  ])('production refuses a webhook to %s', (url) => {
    expect(faultOf(production, url)).toEqual(expect.any(String));
  });

  it('development accepts loopback, and no other private address', () => {
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost/', 'http://[::1]/', 'https://localhost/'])
      expect(faultOf({}, url)).toBeUndefined();
    for (const url of [
      'http://10.0.0.1/',
      'https://10.0.0.1/',
      'https://169.254.169.254/',
      'http://hooks.example/',
    ])
      expect(faultOf({}, url)).toEqual(expect.any(String));
    expect(webhookRules(readEnv('worker', {})).hasSecret('acme')).toBe(false);
  });
});

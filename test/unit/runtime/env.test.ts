import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EnvError, readEnv, warningsOf } from '@parley/shared/config/env';
import { afterAll, describe, expect, it } from 'vitest';

const KEY = 'a-secret-of-a-service-0123456789';
const CARD_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const VAULT_KEY = randomBytes(32).toString('base64');
const PRODUCTION = {
  NODE_ENV: 'production',
  REDIS_URL: 'redis://redis:6379',
  PARLEY_API_KEYS: `acme:${KEY}`,
};

it.each([
  ['nothing at all', {}],
  ['empty variables', { REDIS_URL: '', PARLEY_HEARTBEAT_MS: '' }],
  ['a production pod', PRODUCTION],
  [
    'a key for cards with their origin',
    { PARLEY_A2A_SIGNING_KEY: CARD_KEY, PARLEY_A2A_URL: 'https://a.example' },
  ],
  [
    'a key for cards with the public origin',
    { PARLEY_A2A_SIGNING_KEY: CARD_KEY, PARLEY_PUBLIC_URL: 'https://a.example' },
  ],
  ['two keys of the vault', { PARLEY_VAULT_KEYS: `b:${VAULT_KEY}, a:${randomBytes(32).toString('base64')}` }],
  ['two keys of a tenant', { PARLEY_API_KEYS: `acme:${KEY},acme:${KEY}2` }],
])('accepts %s', (_title, source) => {
  expect(() => readEnv('api', source)).not.toThrow();
});

it('reads nodes by name and by address, IPv6 in brackets', () => {
  expect(readEnv('api', { PARLEY_REDIS_SENTINELS: 'a:1,10.0.0.1:2,[::1]:3' }).PARLEY_REDIS_SENTINELS).toEqual(
    [
      { host: 'a', port: 1 },
      { host: '10.0.0.1', port: 2 },
      { host: '::1', port: 3 },
    ],
  );
});

it.each([
  ['an address that is not of Redis', { REDIS_URL: 'http://redis:6379' }, 'REDIS_URL'],
  [
    'Sentinel and Cluster at once',
    { PARLEY_REDIS_SENTINELS: 'a:1', PARLEY_REDIS_CLUSTER: 'b:2' },
    'PARLEY_REDIS_CLUSTER',
  ],
  ['a key of the vault without an id', { PARLEY_VAULT_KEYS: VAULT_KEY }, 'PARLEY_VAULT_KEYS'],
  ['a vault that is not in Redis', { PARLEY_VAULT_REDIS_URL: 'http://x' }, 'PARLEY_VAULT_REDIS_URL'],
  ['an IPv6 node without brackets', { PARLEY_REDIS_CLUSTER: '::1:6379' }, 'PARLEY_REDIS_CLUSTER'],
  ['a key without a tenant', { PARLEY_API_KEYS: KEY }, 'PARLEY_API_KEYS'],
  ['a key that no header can carry', { PARLEY_API_KEYS: 'acme:schlüssel-für-alle' }, 'PARLEY_API_KEYS'],
  ['a key with a space in it', { PARLEY_API_KEYS: 'acme:two words here' }, 'PARLEY_API_KEYS'],
  ['a key too long to be read', { PARLEY_API_KEYS: `acme:${'x'.repeat(8_193)}` }, 'PARLEY_API_KEYS'],
  ['a heart that beats too slowly for the clients', { PARLEY_HEARTBEAT_MS: '30000' }, 'PARLEY_HEARTBEAT_MS'],
  ['one secret for two tenants', { PARLEY_API_KEYS: `acme:${KEY},globex:${KEY}` }, 'PARLEY_API_KEYS'],
  ['a drain that is all delay', { PARLEY_DRAIN_DELAY_MS: '10000' }, 'PARLEY_DRAIN_DELAY_MS'],
  ['an origin with any port', { PARLEY_CORS_ORIGINS: 'https://app.example.com:*' }, 'PARLEY_CORS_ORIGINS'],
  [
    'any port of this machine in production',
    { PARLEY_CORS_ORIGINS: 'http://localhost:*', NODE_ENV: 'production' },
    'PARLEY_CORS_ORIGINS',
  ],
  ['an origin with a path', { PARLEY_CORS_ORIGINS: 'https://app.example.com/x' }, 'PARLEY_CORS_ORIGINS'],
  ['a JWKS without an issuer', { PARLEY_JWT_JWKS_URL: 'https://id.example.com/jwks' }, 'PARLEY_JWT_ISSUER'],
  [
    'a signing secret of Slack that is one letter',
    { ...PRODUCTION, PARLEY_SLACK_SIGNING_SECRET: 'a', PARLEY_SLACK_BOT_TOKEN: 'xoxb-1' },
    'PARLEY_SLACK_SIGNING_SECRET',
  ],
  [
    'a webhook secret of zeros',
    { ...PRODUCTION, PARLEY_WEBHOOK_SECRETS: `acme:whsec_${Buffer.alloc(32).toString('base64')}` },
    'PARLEY_WEBHOOK_SECRETS',
  ],
  ['production without callers', { ...PRODUCTION, PARLEY_API_KEYS: '' }, 'PARLEY_JWT_SECRET'],
  [
    'the words of programs in the log of production',
    { ...PRODUCTION, PARLEY_LOG_MCP_STDERR: 'true' },
    'PARLEY_LOG_MCP_STDERR',
  ],
  [
    'a key that signs cards for any Host header',
    { PARLEY_A2A_SIGNING_KEY: CARD_KEY },
    'PARLEY_A2A_SIGNING_KEY',
  ],
  ['production without Redis', { ...PRODUCTION, REDIS_URL: '' }, 'REDIS_URL'],
  ['a short key in production', { ...PRODUCTION, PARLEY_API_KEYS: 'acme:0123456789' }, 'PARLEY_API_KEYS'],
])('refuses %s and names the variable, never its value', (_title, source, variable) => {
  const fault = thrownBy(() => readEnv('api', source));
  expect(fault).toBeInstanceOf(EnvError);
  const { faults, message } = fault as EnvError;
  expect(faults.map((text) => text.slice(0, text.indexOf(':')))).toContain(variable);
  for (const value of Object.values(source)) {
    if (value.includes('acme:') || value === VAULT_KEY) expect(message).not.toContain(value);
  }
});

it('reports all faults at once', () => {
  const fault = thrownBy(() => readEnv('api', { REDIS_URL: 'x', PARLEY_API_KEYS: 'y' })) as EnvError;
  expect(fault.faults).toHaveLength(2);
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a secret that everybody knows or that is easy to guess', () => {
  const KNOWN = [
    ['a development secret', 'development-only-jwt-secret-of-32-bytes-or-more', 'published default'],
    ['a placeholder', 'CHANGEME-CHANGEME-CHANGEME-0123456789', 'placeholder'],
    ['the secret of a well-known page', 'a-string-secret-at-least-256-bits-long', 'published default'],
    ['one letter', 'x'.repeat(48), 'few different characters'],
    ['a word again and again', 'password'.repeat(6), 'repeats'],
  ] as const;

  it.each(KNOWN)('%s does not start in production as the secret of tokens', (_what, secret, reason) => {
    const { faults } = thrownBy(() =>
      readEnv('api', { ...PRODUCTION, PARLEY_JWT_SECRET: secret }),
    ) as EnvError;
    expect(faults).toEqual([expect.stringMatching(`^PARLEY_JWT_SECRET: .*${reason}`)]);
    expect(faults.join()).not.toContain(secret);
    expect(warningsOf(readEnv('api', { PARLEY_JWT_SECRET: secret }), 'api').join()).toContain(reason);
  });

  it.each(KNOWN)('%s does not start in production as a service key', (_what, secret, reason) => {
    const keys = `acme:${KEY},globex/billing/ask:${secret}`;
    const { faults } = thrownBy(() => readEnv('api', { ...PRODUCTION, PARLEY_API_KEYS: keys })) as EnvError;
    expect(faults).toEqual([expect.stringMatching(`^PARLEY_API_KEYS: .*${reason}`)]);
    expect(faults.join()).not.toContain(secret);
  });

  it('blanks do not start in production', () => {
    const { faults } = thrownBy(() =>
      readEnv('api', { ...PRODUCTION, PARLEY_JWT_SECRET: ' '.repeat(40) }),
    ) as EnvError;
    expect(faults).toEqual([expect.stringMatching(/^PARLEY_JWT_SECRET: .*blanks/)]);
  });

  it('the password of the compose file does not start in production', () => {
    const source = { ...PRODUCTION, PARLEY_REDIS_PASSWORD: 'development-only-redis-password' };
    const { faults } = thrownBy(() => readEnv('worker', source)) as EnvError;
    expect(faults).toEqual([expect.stringMatching(/^PARLEY_REDIS_PASSWORD: .*published default/)]);
  });

  it('one secret for users and for a service does not start in production', () => {
    const { faults } = thrownBy(() => readEnv('api', { ...PRODUCTION, PARLEY_JWT_SECRET: KEY })) as EnvError;
    expect(faults).toEqual([expect.stringMatching(/^PARLEY_API_KEYS: .*PARLEY_JWT_SECRET/)]);
  });

  it('random secrets start', () => {
    for (let round = 0; round < 200; round += 1) {
      const [hex, base64] = [randomBytes(16).toString('hex'), randomBytes(18).toString('base64')];
      const source = { ...PRODUCTION, PARLEY_JWT_SECRET: hex, PARLEY_API_KEYS: `acme:${base64}` };
      expect(() => readEnv('api', source)).not.toThrow();
    }
  });
});

describe('a warning at start, also in production', () => {
  const warned = (source: Record<string, string>) =>
    warningsOf(readEnv('api', { ...PRODUCTION, ...source }), 'api').map((text) => text.replace(/;.*/, ''));

  it.each([
    [
      'redis://redis:6379',
      [
        'REDIS_URL: Redis is on another machine and is reached without TLS',
        'REDIS_URL: Redis is on another machine and asks for no password',
      ],
    ],
    ['redis://:a-password@redis:6379', ['REDIS_URL: Redis is on another machine and is reached without TLS']],
    ['rediss://redis:6379', ['REDIS_URL: Redis is on another machine and asks for no password']],
    ['rediss://parley:a-password@redis:6379', []],
    ['redis://127.0.0.1:6379', []],
    ['redis://[::1]:6379', []],
    ['redis://localhost:6379', []],
  ])('%s', (url, warnings) => {
    expect(warned({ REDIS_URL: url })).toEqual(warnings);
  });

  it('names nodes of a Cluster and a Redis for credentials, too', () => {
    const safe = { PARLEY_REDIS_TLS: 'true', PARLEY_REDIS_PASSWORD: 'a-password-for-redis' };
    expect(warned({ PARLEY_REDIS_CLUSTER: '127.0.0.1:7000,10.0.0.1:7000' })).toHaveLength(2);
    expect(warned({ PARLEY_REDIS_CLUSTER: '10.0.0.1:7000', ...safe })).toEqual([]);
    expect(warned({ ...safe, REDIS_URL: 'rediss://redis', PARLEY_VAULT_REDIS_URL: 'redis://vault' })).toEqual(
      [
        expect.stringMatching(/^PARLEY_VAULT_REDIS_URL: .* without TLS/),
        expect.stringMatching(/^PARLEY_VAULT_REDIS_URL: .* no password/),
      ],
    );
  });

  it('names the missing secret of MCP calls where several pods may run agents', () => {
    const pods = {
      REDIS_URL: 'redis://localhost',
      PARLEY_CONFIG: 'agents.yaml',
      PARLEY_API_KEYS: `acme:${KEY}`,
    };
    expect(warned(pods)).toEqual([expect.stringMatching(/^PARLEY_MCP_SECRET: the pods share no secret/)]);
    expect(warned({ ...pods, PARLEY_MCP_SECRET: `${KEY}${KEY}` })).toEqual([]);
    expect(warned({ ...pods, PARLEY_CONFIG: '' })).toEqual([]);
  });

  it('names a secret of user tokens without an audience, where agents are called by MCP', () => {
    const open = {
      REDIS_URL: 'redis://localhost',
      PARLEY_CONFIG: 'agents.yaml',
      PARLEY_JWT_SECRET: KEY.repeat(2),
      PARLEY_MCP_SECRET: KEY.repeat(2),
    };
    expect(warned(open)).toEqual([expect.stringMatching(/^PARLEY_MCP_AUDIENCE: no audience is set/)]);
    expect(warned({ ...open, PARLEY_JWT_AUDIENCE: 'api' })).toEqual([]);
    expect(warned({ ...open, PARLEY_MCP_AUDIENCE: 'mcp' })).toEqual([]);
    expect(warned({ ...open, PARLEY_CONFIG: '' })).toEqual([]);
  });

  it('names a service key that has expired, but starts with it', () => {
    const keys = `acme/billing/ask/2026-01-01:${KEY}`;
    expect(warned({ REDIS_URL: 'redis://localhost', PARLEY_API_KEYS: keys })).toEqual([
      'PARLEY_API_KEYS: the key billing of acme has expired',
    ]);
  });
});

it('the address of the MCP endpoint ends in its path, and its secret is long', () => {
  const given = { PARLEY_MCP_URL: 'https://parley.example/mcp', PARLEY_MCP_SECRET: 'short' };
  const { faults } = thrownBy(() => readEnv('api', given)) as EnvError;
  expect(faults).toEqual([
    expect.stringMatching(/^PARLEY_MCP_URL: must end in/),
    expect.stringMatching(/^PARLEY_MCP_SECRET: must be at least 32/),
  ]);
});

describe('a secret in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-env-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('is read from the path in the variable that ends with _FILE, without the line break at its end', () => {
    const env = readEnv('api', {
      PARLEY_JWT_SECRET_FILE: file('jwt', `${KEY}\n`),
      PARLEY_API_KEYS_FILE: file('none', ''),
    });
    expect(env).toMatchObject({ PARLEY_JWT_SECRET: KEY, PARLEY_API_KEYS: [] });
  });

  it('is refused beside the variable itself, and when the file cannot be read', () => {
    const both = { PARLEY_JWT_SECRET: KEY, PARLEY_JWT_SECRET_FILE: file('jwt', KEY) };
    const missing = { PARLEY_API_KEYS_FILE: join(folder, 'missing') };
    const { faults } = thrownBy(() => readEnv('api', { ...both, ...missing })) as EnvError;
    expect(faults).toEqual([
      expect.stringMatching(/^PARLEY_JWT_SECRET_FILE: set either/),
      expect.stringMatching(/^PARLEY_API_KEYS_FILE: .*ENOENT/),
    ]);
  });
});

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../infra/check/programs.ts';
import { filledSecretsCheck } from '../../infra/check/secrets.ts';
import { problemsOf, root } from './planted-tree.ts';

const directory = mkdtempSync(join(tmpdir(), 'parley-secrets-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const template = readFileSync(join(root, 'infra/kubernetes/secrets.template.yaml'), 'utf8');
const long = 'q7'.repeat(20);

/** Fills the template in and returns the file. */
function fill(values: Readonly<Record<string, string>>): string {
  const file = join(directory, 'secrets.yaml');
  const filled = template.replace(/(\w+): REPLACE_ME/g, (line, name: string) =>
    values[name] === undefined ? line : `${name}: ${values[name]}`,
  );
  writeFileSync(file, filled);
  return file;
}

const complete = {
  PARLEY_REDIS_PASSWORD: long,
  PARLEY_REDIS_OPERATOR_PASSWORD: long,
  PARLEY_JWT_SECRET: long,
  PARLEY_API_KEYS: `default:${long}`,
  PARLEY_WEBHOOK_SECRETS: `default:whsec_${randomBytes(32).toString('base64')}`,
  PARLEY_VAULT_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  PARLEY_CONNECT_OIDC_CLIENT_SECRET: long,
  MODEL_API_KEY: long,
  TRACKER_CLIENT_SECRET: long,
};

describe('a filled-in copy of the template', () => {
  it('passes when it is complete', async () => {
    expect(await filledSecretsCheck(fill(complete)).run(root)).toEqual({ status: 'ok' });
  });

  it.each([
    ['a placeholder', { PARLEY_JWT_SECRET: 'REPLACE_ME' }, /PARLEY_JWT_SECRET still holds a placeholder/],
    ['a development default', { PARLEY_REDIS_PASSWORD: 'development-only-redis-password' }, /placeholder/],
    ['a short secret', { PARLEY_JWT_SECRET: 'only-twenty-letters-' }, /PARLEY_JWT_SECRET is too short/],
    ['one short key among others', { PARLEY_API_KEYS: `a:${long},b:short` }, /PARLEY_API_KEYS is too short/],
    [
      'a webhook secret that is none',
      { PARLEY_WEBHOOK_SECRETS: `default:${long}` },
      /PARLEY_WEBHOOK_SECRETS/,
    ],
    ['a vault key that is no key', { PARLEY_VAULT_KEYS: `k1:${long}` }, /entry 1 must hold 32 random bytes/],
  ])('is refused for %s', async (_title, values, complaint) => {
    const verdict = await filledSecretsCheck(fill({ ...complete, ...values })).run(root);
    expect(problemsOf(verdict)).toMatch(complaint);
    expect(problemsOf(verdict)).not.toContain(long);
  });

  it('is refused on the command line with one line of explanation and exit code 1', async () => {
    const file = fill({ ...complete, PARLEY_JWT_SECRET: 'REPLACE_ME' });
    const args = ['--conditions=parley-source', '--import', 'tsx', 'infra/check.ts', '--secrets', file];
    const { code, output } = await runProgram(process.execPath, args, { cwd: root });
    expect(output).toMatch(
      /^FAIL {5}secrets in .*PARLEY_JWT_SECRET still holds a placeholder\n0 ok, 1 failed, 0 not run\n$/,
    );
    expect(code).toBe(1);
  });
});

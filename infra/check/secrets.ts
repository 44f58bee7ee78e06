import { join } from 'node:path';
import { faultsOfWebhooks } from '@parley/shared/config/webhooks-env';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import type { ISecret } from 'kubernetes-models/v1/Secret';
import { readYaml } from './documents.ts';
import { directory, type Manifest, ofKind, secretsTemplate } from './manifests.ts';
import { type Check, judge } from './verdict.ts';

/** Checks that the template for Secrets contains only placeholders. */
export const secretsTemplateCheck: Check = {
  name: 'kubernetes secrets template',
  run: (root) => {
    const { entries, problems } = readSecrets(root, join(directory, secretsTemplate));
    const filled = entries.filter(([, value]) => value !== 'REPLACE_ME');
    return judge([...problems, ...filled.map(([key]) => `${key} holds a value instead of REPLACE_ME`)]);
  },
};

/**
 * Refuses a filled-in copy of the template that still contains a placeholder, a development default, or a secret that is too
 * short. Values are never printed.
 */
export function filledSecretsCheck(file: string): Check {
  return {
    name: `secrets in ${file}`,
    run: (root) => {
      const { entries, problems } = readSecrets(root, file);
      const empty = entries.length === 0 ? ['holds no Secret'] : [];
      return judge([...problems, ...empty, ...entries.flatMap(([key, value]) => valueProblems(key, value))]);
    },
  };
}

function readSecrets(
  root: string,
  file: string,
): {
  readonly entries: readonly (readonly [key: string, value: string])[];
  readonly problems: readonly string[];
} {
  const { values, problems } = readYaml(root, file);
  const secrets = ofKind<ISecret>(values as Manifest[], 'Secret');
  return { entries: secrets.flatMap(({ stringData }) => Object.entries(stringData ?? {})), problems };
}

function valueProblems(key: string, value: string): readonly string[] {
  if (/REPLACE_ME|CHANGE_?ME|development-only/i.test(value)) return [`${key} still holds a placeholder`];
  const entries = value.split(',').map((entry) => entry.trim());
  if (key === 'PARLEY_VAULT_KEYS') return parseVaultKeys(entries).faults ?? [];
  if (key === 'PARLEY_WEBHOOK_SECRETS') return faultsOfWebhooks({ PARLEY_WEBHOOK_SECRETS: entries });
  return isTooShort(key, value, entries) ? [`${key} is too short`] : [];
}

/** HS256 needs 32 bytes. A service key is `tenant:secret`, and several are separated by commas. */
function isTooShort(key: string, value: string, entries: readonly string[]): boolean {
  if (key === 'PARLEY_API_KEYS')
    return entries.some((entry) => entry.slice(entry.indexOf(':') + 1).length < 24);
  return value.length < (key === 'PARLEY_JWT_SECRET' ? 32 : 16);
}

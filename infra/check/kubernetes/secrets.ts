import { faultsOfWebhooks } from '@parley/shared/runtime/webhook-env';
import { parseVaultKeys } from '@parley/shared/vault/key-ring';
import { type Check, judge } from '../verdict.ts';
import { loadManifests, readManifests, secretsTemplate, title, workloads } from './load.ts';
import { ofKind } from './pod-rules.ts';

/** What stands in the template where a secret belongs. */
const placeholder = /REPLACE_ME|CHANGE_?ME|development-only/i;

/** The template holds placeholders only, is never applied, and names every Secret that a pod reads. */
export const secretsTemplateCheck: Check = {
  name: 'kubernetes secrets template',
  run: (root) => {
    const { objects, problems } = readManifests(root, secretsTemplate);
    const secrets = ofKind(objects, 'Secret');
    const loaded = loadManifests(root);
    const found = [...problems];
    for (const secret of secrets) {
      for (const [key, value] of Object.entries(secret.stringData)) {
        if (value !== 'REPLACE_ME')
          found.push(`${title(secret)}: ${key} holds a value instead of REPLACE_ME`);
      }
    }
    if (ofKind(loaded.objects, 'Secret').length > 0) found.push('the kustomization applies a Secret');
    const names = new Set(secrets.map((secret) => secret.metadata.name));
    for (const workload of workloads(loaded.objects)) {
      for (const source of workload.spec.template.spec.containers.flatMap((item) => item.envFrom ?? [])) {
        const wanted = source.secretRef?.name;
        if (wanted !== undefined && !names.has(wanted)) {
          found.push(`${title(workload)}: reads Secret ${wanted}, which the template does not have`);
        }
      }
    }
    return judge(found);
  },
};

/**
 * Refuses a filled-in copy of the template that still holds a placeholder, a development default, or a secret too
 * short to be one. Values are never printed.
 */
export function filledSecretsCheck(file: string): Check {
  return {
    name: `secrets in ${file}`,
    run: (root) => {
      const { objects, problems } = readManifests(root, file);
      const secrets = ofKind(objects, 'Secret');
      const found = [...problems];
      if (secrets.length === 0) found.push('holds no Secret');
      for (const secret of secrets) {
        for (const [key, value] of Object.entries(secret.stringData)) {
          found.push(...faultsOf(key, value).map((fault) => `${title(secret)}: ${fault}`));
        }
      }
      return judge(found);
    },
  };
}

/** What is wrong with a value that is filled in. */
function faultsOf(key: string, value: string): readonly string[] {
  if (placeholder.test(value)) return [`${key} still holds a placeholder`];
  const entries = value.split(',').map((entry) => entry.trim());
  if (key === 'PARLEY_VAULT_KEYS') return parseVaultKeys(entries).faults ?? [];
  if (key === 'PARLEY_WEBHOOK_SECRETS') return faultsOfWebhooks({ PARLEY_WEBHOOK_SECRETS: entries });
  return tooShort(key, value) ? [`${key} is too short`] : [];
}

/** HS256 wants 32 bytes; a service key is `tenant:secret`, and several stand side by side. */
function tooShort(key: string, value: string): boolean {
  if (key === 'PARLEY_API_KEYS') {
    return value.split(',').some((entry) => entry.slice(entry.indexOf(':') + 1).trim().length < 24);
  }
  return value.length < (key === 'PARLEY_JWT_SECRET' ? 32 : 16);
}

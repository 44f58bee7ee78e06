import { EnvError, readEnv } from '@parley/shared/runtime/env';
import { Variables } from '@parley/shared/runtime/variables';
import { readCompose } from './compose.ts';
import { loadManifests, readManifests, secretsTemplate, workloads } from './kubernetes/load.ts';
import { ofKind } from './kubernetes/pod-rules.ts';
import { type Check, judge } from './verdict.ts';

type Settings = Readonly<Record<string, string>>;

/** Holds what an agents file names, which is for its writer to name. */
const NAMED_BY_AGENTS = 'parley-agents';

/** What compose and Kubernetes set is what Parley reads, and Parley would start with it. */
export const settingsChecks: readonly Check[] = [
  {
    name: 'settings in docker-compose.yml start Parley',
    run: (root) =>
      judge(
        Object.entries(readCompose(root).value?.services ?? {})
          .filter(([, service]) => service.build !== undefined)
          .flatMap(([name, service]) => faultsOf(name, withDefaults(service.environment ?? {}))),
      ),
  },
  {
    name: 'settings in Kubernetes start Parley',
    run: (root) => {
      const sources = readSources(root);
      return judge(
        workloads(loadManifests(root).objects)
          .filter((workload) => workload.kind === 'Deployment')
          .flatMap((workload) => workload.spec.template.spec.containers)
          .flatMap((container) => {
            const from = (container.envFrom ?? [])
              .map((item) => item.configMapRef?.name ?? item.secretRef?.name)
              .filter((name) => name !== NAMED_BY_AGENTS);
            const own = (container.env ?? []).map(({ name, value }) => [name, value] as const);
            const settings = Object.assign(
              {},
              ...from.map((name) => sources.get(name ?? '')),
              Object.fromEntries(own),
            );
            return faultsOf(container.name, settings);
          }),
      );
    },
  },
];

function faultsOf(where: string, settings: Settings): readonly string[] {
  const unknown = Object.keys(settings)
    .filter((name) => !Object.hasOwn(Variables.shape, name))
    .map((name) => `${where}: Parley reads no variable ${name}`);
  try {
    readEnv(where.includes('worker') ? 'worker' : 'api', settings);
    return unknown;
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    return [...unknown, ...error.faults.map((fault) => `${where}: ${fault}`)];
  }
}

/** Each value as it is when nobody sets anything: the default of its variable. */
function withDefaults(settings: Settings): Settings {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, value.replace(/\$\{\w+:?-([^}]*)\}/g, '$1')]),
  );
}

/** ConfigMaps by name, and Secrets by name with something long enough in place of each placeholder. */
function readSources(root: string): ReadonlyMap<string, Settings> {
  const sources = new Map<string, Settings>();
  for (const map of ofKind(loadManifests(root).objects, 'ConfigMap'))
    sources.set(map.metadata.name, map.data);
  for (const secret of ofKind(readManifests(root, secretsTemplate).objects, 'Secret')) {
    const filled = Object.keys(secret.stringData).map((name) => [name, standInFor(name)] as const);
    sources.set(secret.metadata.name, Object.fromEntries(filled));
  }
  return sources;
}

function standInFor(name: string): string {
  const key = Buffer.from(`${'x'.repeat(31)}y`).toString('base64');
  if (name === 'PARLEY_VAULT_KEYS') return `default:${key}`;
  return name === 'PARLEY_WEBHOOK_SECRETS' ? `default:whsec_${key}` : `default:${'x'.repeat(48)}`;
}

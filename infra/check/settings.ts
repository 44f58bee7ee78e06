import { randomBytes } from 'node:crypto';
import { EnvError, readEnv } from '@parley/shared/config/env';
import { FILE_VARIABLES, Variables } from '@parley/shared/config/variables';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import { readServices } from './docker.ts';
import { ofKind, readManifests, readVariables } from './manifests.ts';
import { type Check, judge } from './verdict.ts';

type Settings = Readonly<Record<string, string>>;

/** This secret contains the variables that an agents file names, which only its author knows. */
const AGENTS_SECRET = 'parley-agents';

/** Checks that Parley reads the variables that compose and Kubernetes set, and that it would start with them. */
export const settingsChecks: readonly Check[] = [
  { name: 'settings in docker-compose.yml', run: (root) => judge(composeProblems(root)) },
  { name: 'settings in Kubernetes', run: (root) => judge(kubernetesProblems(root)) },
];

function composeProblems(root: string): readonly string[] {
  const services = Object.entries(readServices(root)).filter(([, { build }]) => build !== undefined);
  if (services.length === 0) return ['docker-compose.yml builds no service'];
  return services.flatMap(([name, { environment = {} }]) => {
    const defaults = Object.entries(environment).map(([key, value]) => {
      const secret = FILE_VARIABLES.find((name) => key === `${name}_FILE`);
      return secret === undefined
        ? ([key, value.replace(/\$\{\w+:?-([^}]*)\}/g, '$1')] as const)
        : ([secret, secretFor(secret)] as const);
    });
    return settingsProblems(name, Object.fromEntries(defaults));
  });
}

function kubernetesProblems(root: string): readonly string[] {
  const known = readVariables(root);
  const containers = ofKind<IDeployment>(readManifests(root).objects, 'Deployment').flatMap(
    ({ spec }) => spec?.template.spec?.containers ?? [],
  );
  return containers.flatMap(({ name, envFrom = [], env = [] }) => {
    const sources = envFrom
      .map(({ configMapRef, secretRef }) => configMapRef?.name ?? secretRef?.name ?? '')
      .filter((source) => source !== AGENTS_SECRET);
    const settings = [
      ...sources.flatMap((source) => Object.entries(known.get(source) ?? {})),
      ...env.map((each) => [each.name, each.value ?? ''] as const),
    ].map(([key, value]) => [key, value === 'REPLACE_ME' ? secretFor(key) : value] as const);
    return [
      ...sources.filter((source) => !known.has(source)).map((source) => `${name}: ${source} does not exist`),
      ...settingsProblems(name, Object.fromEntries(settings)),
    ];
  });
}

function settingsProblems(service: string, settings: Settings): readonly string[] {
  const unknown = Object.keys(settings)
    .filter((name) => !Object.hasOwn(Variables.shape, name))
    .map((name) => `${service}: Parley reads no variable ${name}`);
  try {
    readEnv(service.includes('worker') ? 'worker' : 'api', settings);
    return unknown;
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    return [...unknown, ...error.faults.map((fault) => `${service}: ${fault}`)];
  }
}

/** A random value for the secret of that name. */
function secretFor(name: string): string {
  const key = randomBytes(32).toString('base64');
  if (name === 'PARLEY_VAULT_KEYS') return `default:${key}`;
  return name === 'PARLEY_WEBHOOK_SECRETS' ? `default:whsec_${key}` : `default:${key}`;
}

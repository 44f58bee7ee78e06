import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fits, readYaml } from './documents.ts';
import { pinned } from './image-names.ts';
import { findProgram, lastLines, run } from './tools.ts';
import { type Check, judge, notRun, type Verdict } from './verdict.ts';

const composeFile = 'docker-compose.yml';

const service = z.looseObject({
  image: z.string(),
  build: z.looseObject({ target: z.string(), dockerfile: z.string() }).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  networks: z.array(z.string()).min(1),
  user: z.string().optional(),
  privileged: z.boolean().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  stop_grace_period: z.string().optional(),
  depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
});

const compose = z.looseObject({
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.unknown()),
});

type Compose = z.infer<typeof compose>;
type Services = Compose['services'];

/** The compose file: reachable from this machine only, pinned, hardened, and free of secrets that look real. */
export const composeChecks: readonly Check[] = [
  { name: 'compose file', run: (root) => judge(composeProblems(root)) },
  { name: 'docker-compose config', run: composeConfig },
];

/** Reads the compose file with its anchors resolved and its variables as they stand. */
export function readCompose(root: string): {
  readonly value: Compose | undefined;
  readonly problems: readonly string[];
} {
  const file = readYaml(root, composeFile);
  const { value, problems } = fits(compose, file.values[0], composeFile);
  return { value, problems: [...file.problems, ...problems] };
}

function composeProblems(root: string): readonly string[] {
  const { value, problems } = readCompose(root);
  if (value === undefined) return problems;
  const { services } = value;
  const pods = Object.values(services).filter((item) => item.build?.target === 'api');
  const named = Object.entries(services).flatMap(([name, item]) =>
    [
      ...exposureProblems(item),
      ...sandboxProblems(item),
      ...secretProblems(item),
      ...referenceProblems(item, name, services, root),
    ].map((problem) => `${name}: ${problem}`),
  );
  return [
    ...problems,
    ...(pods.length >= 3 ? [] : [`${pods.length} api pods do not show what three do`]),
    ...named,
  ];
}

function exposureProblems(item: Services[string]): readonly string[] {
  const problems = (item.ports ?? [])
    .filter((port) => !port.startsWith('127.0.0.1:'))
    .map((port) => `publishes ${port} beyond this machine`);
  if (!pinned(item.image)) problems.push(`image ${item.image} is not pinned to a version`);
  if (item.image.startsWith('redis') && item.ports !== undefined) problems.push('publishes Redis');
  return problems;
}

function sandboxProblems(item: Services[string]): readonly string[] {
  const problems: string[] = [];
  if (item.privileged === true || item.user === 'root' || item.user?.startsWith('0'))
    problems.push('runs as root');
  if (item.read_only !== true) problems.push('can write to its image');
  if (!item.cap_drop?.includes('ALL')) problems.push('keeps capabilities');
  if (!item.security_opt?.includes('no-new-privileges:true')) problems.push('may escalate its privileges');
  if (item.build !== undefined && item.stop_grace_period !== '30s')
    problems.push('has no 30 s for its drain');
  return problems;
}

/** A default for a secret must say that it is one, so that nobody takes it for a real value. */
function secretProblems(item: Services[string]): readonly string[] {
  return Object.entries(item.environment ?? {})
    .filter(([key]) => /PASSWORD|SECRET|API_KEYS|VAULT_KEYS|TOKEN/.test(key))
    .filter(([, value]) => !/^\$\{\w+:?-([\w.-]+:)?(development-only[\w-]*)?\}$/.test(value))
    .map(([key]) => `${key} is neither a variable nor marked development-only`);
}

function referenceProblems(
  item: Services[string],
  name: string,
  services: Services,
  root: string,
): readonly string[] {
  const needs = Array.isArray(item.depends_on) ? item.depends_on : Object.keys(item.depends_on ?? {});
  const mounts = (item.volumes ?? []).map((volume) => volume.split(':'));
  return [
    ...needs
      .filter((need) => services[need] === undefined)
      .map((need) => `depends on ${need}, which is not there`),
    ...mounts
      .filter(([source]) => source?.startsWith('./') && !existsSync(join(root, source)))
      .map(([source]) => `mounts ${source}, which does not exist`),
    ...mounts
      .filter(([source, , mode]) => source?.startsWith('./') && mode !== 'ro')
      .map(([source]) => `may change ${source}`),
    ...(item.build !== undefined && !existsSync(join(root, item.build.dockerfile))
      ? [`${name} is built from ${item.build.dockerfile}, which does not exist`]
      : []),
  ];
}

async function composeConfig(root: string): Promise<Verdict> {
  const found = await findCompose();
  if (found === undefined)
    return notRun('neither docker-compose nor docker with its compose plugin is installed');
  const [program, ...first] = found;
  const { code, output } = await run(program, [...first, '-f', composeFile, 'config', '-q'], { cwd: root });
  return judge(code === 0 ? [] : [lastLines(output)]);
}

/** The command that reads compose files, whichever of the two there is. */
export async function findCompose(): Promise<readonly [program: string, ...first: string[]] | undefined> {
  const old = findProgram('docker-compose');
  if (old !== undefined) return [old];
  const docker = findProgram('docker');
  if (docker === undefined) return undefined;
  const { code } = await run(docker, ['compose', 'version']);
  return code === 0 ? [docker, 'compose'] : undefined;
}

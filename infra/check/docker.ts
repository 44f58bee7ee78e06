/** Checks the Dockerfile and the compose file without building anything. Built images are checked by `infra/images.ts`. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { z } from 'zod';
import { pinnedImage, readYaml, schemaProblems } from './documents.ts';
import { programCheck, withDirectory } from './programs.ts';
import { type Check, judge } from './verdict.ts';

const dockerfile = 'infra/Dockerfile';
const composeFile = 'docker-compose.yml';

/**
 * Checks the Dockerfile and the compose file. dockerfile-utils, DCLint and Compose check the form; the other checks are policy.
 */
export const dockerChecks: readonly Check[] = [
  {
    name: 'Dockerfile',
    run: (root) => judge(dockerfileProblems(readFileSync(join(root, dockerfile), 'utf8'))),
  },
  {
    name: '.dockerignore',
    run: (root) => judge(ignoreProblems(readFileSync(join(root, '.dockerignore'), 'utf8'))),
  },
  { name: 'compose policy', run: (root) => judge(composeProblems(root)) },
  { name: 'dclint', run: (root) => withDirectory(async (scratch) => judge(dclintProblems(root, scratch))) },
  programCheck('docker-compose config', 'docker-compose', () => ['-f', composeFile, 'config', '-q']),
];

/** Patterns that each instruction's arguments must (or must not) match, once the file's syntax is valid. */
const instructionRules: Readonly<
  Record<string, readonly [pattern: RegExp, required: boolean, problem: string]>
> = {
  ADD: [/^/, false, 'ADD may fetch a remote file'],
  ARG: [/SECRET|TOKEN|PASSWORD|API_KEY/, false, 'a secret is kept in a layer'],
  ENV: [/SECRET|TOKEN|PASSWORD|API_KEY/, false, 'a secret is kept in a layer'],
  RUN: [/\bnpm (install|i)\b/, false, 'npm install ignores the lockfile'],
  USER: [/^[1-9]\d*(:\d+)?$/, true, 'USER must be a number other than 0'],
  CMD: [/^\["node"/, true, 'node is not process 1, so SIGTERM never reaches it'],
  HEALTHCHECK: [/\/healthz/, true, 'HEALTHCHECK does not ask /healthz'],
};

function dockerfileProblems(text: string): readonly string[] {
  const parsed = DockerfileParser.parse(text);
  const instructions = parsed.getInstructions();
  const problems = validate(text).map(({ message }) => String(message));
  for (const instruction of instructions) {
    const [pattern, required, problem] = instructionRules[instruction.getKeyword()] ?? [];
    if (pattern && pattern.test(instruction.getArgumentsContent() ?? '') !== required)
      problems.push(problem ?? '');
  }
  const stages = new Set(parsed.getFROMs().map((from) => from.getBuildStage()));
  for (const from of parsed.getFROMs()) {
    const image = (from.getImage() ?? '').replaceAll(
      /\$\{(\w+)\}/g,
      (_all, name: string) => parsed.resolveVariable(name, from.getRange().start.line) ?? '',
    );
    if (!stages.has(image)) problems.push(...schemaProblems(pinnedImage, image, `FROM ${image}`));
  }
  for (const wanted of ['USER', 'HEALTHCHECK', 'CMD']) {
    if (!instructions.some((each) => each.getKeyword() === wanted)) problems.push(`there is no ${wanted}`);
  }
  return problems;
}

/** The build context contains only listed files, so that a stray key never becomes part of a layer. */
function ignoreProblems(text: string): readonly string[] {
  const [first] = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return first === '*' ? [] : ['does not begin by leaving everything out'];
}

const service = z.looseObject({
  image: z.string(),
  build: z.looseObject({ dockerfile: z.string() }).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  group_add: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  networks: z.array(z.string()).optional(),
  user: z
    .string()
    .regex(/^[1-9]/, 'runs as root')
    .optional(),
  read_only: z.literal(true),
  cap_drop: z.tuple([z.literal('ALL')]),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]),
});
type Service = z.infer<typeof service>;
const compose = z.looseObject({
  services: z
    .record(z.string(), service)
    .refine(({ redis }) => redis?.ports === undefined, 'Redis is published'),
});

/** The services in the compose file. Anchors are resolved, and `${VARIABLE:-default}` is not. */
export function readServices(root: string): Readonly<Record<string, z.infer<typeof service>>> {
  const [value] = readYaml(root, composeFile, '1.2').values;
  return compose.safeParse(value).data?.services ?? {};
}

function composeProblems(root: string): readonly string[] {
  const file = readYaml(root, composeFile, '1.2');
  const services = Object.entries(readServices(root));
  const pods = services.filter(([, { image }]) => image.startsWith('parley-api:'));
  const mounts = services.flatMap(([, { volumes = [] }]) =>
    volumes.map((volume) => volume.split(':')[0] ?? ''),
  );
  return [
    ...file.problems,
    ...schemaProblems(compose, file.values[0], composeFile),
    ...outerProblems(file.values[0], services),
    ...(pods.length >= 3 ? [] : [`${pods.length} api pods instead of three`]),
    ...mounts
      .filter((source) => source.startsWith('./') && !existsSync(join(root, source)))
      .map((source) => `${source} is mounted and does not exist`),
    ...services.flatMap(([name, { environment = {} }]) =>
      Object.entries(environment)
        .filter(([key, value]) => secretName.test(key) && !withoutDefault.test(value))
        .map(([key]) => `${name}: ${key} has a value that everybody can read here`),
    ),
  ];
}

/**
 * Proxies stand between the outside and all other services. Only pods and workers may call models, tools and webhooks directly.
 */
function outerProblems(value: unknown, services: readonly (readonly [string, Service])[]): string[] {
  const { networks = {} } = outerNetworks.safeParse(value).data ?? {};
  const outer = new Set(Object.keys(networks).filter((name) => networks[name]?.internal !== true));
  return services.flatMap(([name, { image, ports = [], networks: of = [] }]) => {
    const isProxy = image.startsWith('haproxy:');
    const isOutside = of.some((network) => outer.has(network));
    return [
      ...(ports.length > 0 && !isProxy ? [`${name} is published without a proxy`] : []),
      ...(isOutside && !isProxy && !image.startsWith('parley-') ? [`${name} is on an outer network`] : []),
    ];
  });
}

const outerNetworks = z.looseObject({
  networks: z.record(z.string(), z.looseObject({ internal: z.boolean().optional() }).nullable()),
});

/** Variables that contain a secret, except those that contain a secret's path. */
const secretName = /(?:PASSWORD|SECRET|API_KEYS|VAULT_KEYS|TOKEN)(?!.*_FILE$)/;
/** A variable without a default, or one that infra/secrets/make.sh creates. */
const withoutDefault = /^\$\{\w+:?-(?:make)?\}$/;

/** DCLint's own declaration of this type does not resolve. */
type LintResult = { readonly messages: readonly { readonly rule: string; readonly message: string }[] };

/** DCLint does not follow YAML aliases, so it gets the file with them resolved. */
function dclintProblems(root: string, scratch: string): readonly string[] {
  const file = join(scratch, composeFile);
  writeFileSync(file, JSON.stringify(readYaml(root, composeFile, '1.2').values[0], undefined, 1));
  const rules = {
    'no-unbound-port-interfaces': 2,
    'service-image-require-explicit-tag': 2,
    'no-duplicate-container-names': 2,
    'no-duplicate-exported-ports': 2,
  } as const;
  const linter = new DCLinter({ rules, quiet: true, debug: false, exclude: [] });
  const results: readonly LintResult[] = linter.lintFiles([file], false);
  return results
    .flatMap(({ messages }) => messages)
    .filter(({ rule }) => rule in rules || rule.startsWith('invalid'))
    .map(({ rule, message }) => `${rule}: ${message}`);
}

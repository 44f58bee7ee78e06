import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinned } from './image-names.ts';
import { type Check, judge } from './verdict.ts';

/** The one Dockerfile, relative to the root. */
export const dockerfile = 'infra/Dockerfile';

type Instruction = { readonly name: string; readonly rest: string };
type Stage = { readonly base: string; readonly name: string; readonly steps: readonly Instruction[] };

/** The Dockerfile and what may enter the build: several stages, no root, no secrets, nothing unpinned. */
export const dockerfileChecks: readonly Check[] = [
  {
    name: 'Dockerfile',
    run: (root) => judge(dockerfileProblems(readFileSync(join(root, dockerfile), 'utf8'))),
  },
  {
    name: '.dockerignore',
    run: (root) => judge(ignoreProblems(readFileSync(join(root, '.dockerignore'), 'utf8'))),
  },
];

/** What is wrong with a Dockerfile that should build the targets `api` and `worker`. */
export function dockerfileProblems(text: string): readonly string[] {
  const { stages, defaults } = readStages(text);
  const problems: string[] = [];
  const names = new Set(stages.map((stage) => stage.name));
  if (stages.length < 2) problems.push('one stage: the build tools end up in the image');
  for (const stage of stages) {
    const base = stage.base.replace(/\$\{(\w+)\}/g, (_all, name: string) => defaults.get(name) ?? '');
    if (!names.has(stage.base) && !pinned(base))
      problems.push(`base image ${base} is not pinned to a version`);
    problems.push(...stage.steps.flatMap(stepProblems));
  }
  for (const target of ['api', 'worker']) {
    problems.push(...targetProblems(target, stages).map((problem) => `target ${target}: ${problem}`));
  }
  if (!stages.some((stage) => stage.steps.some((step) => /\bnpm ci\b/.test(step.rest)))) {
    problems.push('does not install with npm ci, so not what the lockfile says');
  }
  return problems;
}

function stepProblems({ name, rest }: Instruction): readonly string[] {
  const problems: string[] = [];
  if (name === 'ADD') problems.push(`ADD ${rest}: copy, or fetch in a step that checks a digest`);
  if (name === 'RUN' && /\bnpm (install|i)\b/.test(rest)) problems.push('npm install ignores the lockfile');
  if (name === 'RUN' && /(curl|wget)[^|]*\|\s*(ba)?sh/.test(rest))
    problems.push('pipes a download into a shell');
  if ((name === 'ENV' || name === 'ARG') && /(SECRET|TOKEN|PASSWORD|API_KEY)\w*\s*=/.test(rest)) {
    problems.push(`${name} keeps a secret in a layer`);
  }
  return problems;
}

function targetProblems(target: string, stages: readonly Stage[]): readonly string[] {
  const steps = inherited(target, stages);
  if (steps === undefined) return ['there is no such stage'];
  const last = (name: string): string | undefined => steps.findLast((step) => step.name === name)?.rest;
  const problems: string[] = [];
  const user = last('USER');
  if (user === undefined || !/^[1-9]\d*(:\d+)?$/.test(user)) {
    problems.push(`runs as ${user ?? 'root'}; USER must be a number other than 0`);
  }
  if (last('HEALTHCHECK')?.includes('/healthz') !== true) problems.push('has no HEALTHCHECK on /healthz');
  if (last('CMD')?.startsWith('["node"') !== true)
    problems.push('node is not process 1, so SIGTERM never reaches it');
  if (!steps.some((step) => step.name === 'ENV' && step.rest.includes('NODE_ENV=production'))) {
    problems.push('does not run in production mode');
  }
  if (!steps.some((step) => step.rest.includes('org.opencontainers.image.'))) problems.push('has no labels');
  return problems;
}

/** The steps of a stage after those of the stages it stands on. */
function inherited(name: string, stages: readonly Stage[]): readonly Instruction[] | undefined {
  const stage = stages.find((item) => item.name === name);
  if (stage === undefined) return undefined;
  return [...(inherited(stage.base, stages) ?? []), ...stage.steps];
}

function readStages(text: string): {
  readonly stages: readonly Stage[];
  readonly defaults: ReadonlyMap<string, string>;
} {
  const stages: (Stage & { steps: Instruction[] })[] = [];
  const defaults = new Map<string, string>();
  for (const { name, rest } of instructions(text)) {
    if (name === 'FROM') {
      const [base = '', , alias = ''] = rest.split(/\s+/);
      stages.push({ base, name: alias, steps: [] });
    } else if (stages.length === 0) {
      const [key = '', value = ''] = rest.split('=');
      defaults.set(key, value);
    } else stages.at(-1)?.steps.push({ name, rest });
  }
  return { stages, defaults };
}

function instructions(text: string): readonly Instruction[] {
  const joined = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replace(/\\\n\s*/g, ' ');
  return joined
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...rest] = line.trim().split(' ');
      return { name: name.toUpperCase(), rest: rest.join(' ').trim() };
    });
}

/** The build must see nothing but what is named, so that a stray key or dump never reaches a layer. */
function ignoreProblems(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const problems: string[] = [];
  if (lines[0] !== '*') problems.push('does not begin by leaving everything out');
  for (const line of ['**/node_modules', '**/.env*']) {
    if (!lines.includes(line)) problems.push(`lets ${line} in`);
  }
  return problems;
}

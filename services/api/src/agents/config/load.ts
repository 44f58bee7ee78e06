import { readFileSync, statSync } from 'node:fs';
import { checkAgents } from './check.ts';
import { type Environment, secretsOf } from './environment.ts';
import { AgentsConfigError, type Fault, type Finding, lineOf } from './fault.ts';
import type { AgentsConfig, AgentsFile, ById } from './file.ts';
import { holdsSecret } from './literal-secret.ts';
import { unusedIn } from './references.ts';
import { readYaml, type YamlText } from './yaml.ts';

const FILE_BYTES_MAX = 1_048_576;

/** A configuration ready for use, and the secrets it names, kept apart from it. */
export interface LoadedAgentsConfig {
  readonly config: AgentsConfig;
  /** The value of an environment variable that the configuration names; throws for any other. Never log it. */
  readonly secretOf: (envName: string) => string;
  /** What is most likely a slip but no fault, as lines to log. */
  readonly warnings: readonly string[];
}

/**
 * Reads the file that PARLEY_CONFIG names, once, at start. Throws AgentsConfigError with all faults, each with its line and
 * column, and nothing else. `env` is the environment of the process; `NODE_ENV=production` in it asks for https.
 */
export function loadAgentsConfig(path: string, env: Environment): LoadedAgentsConfig {
  return readAgentsConfig(textOf(path), path, env);
}

/** Checks the text of a configuration; `file` is what faults call it. Throws AgentsConfigError like loadAgentsConfig. */
export function readAgentsConfig(text: string, file: string, env: Environment): LoadedAgentsConfig {
  const yaml = readYaml(text);
  const refuse = (faults: readonly Fault[]): never => {
    throw new AgentsConfigError(file, [...faults].sort(byPlace));
  };
  if (yaml.value === undefined && yaml.faults.length > 0) return refuse(yaml.faults);
  if (yaml.value === undefined || yaml.value === null) return refuse([{ path: '', message: 'is empty' }]);
  const { parsed, findings } = checkAgents(yaml.value, env);
  const faults = [...yaml.faults, ...faultsOf(yaml, findings)];
  if (faults.length > 0 || parsed === undefined) return refuse(faults);
  const secrets = secretsOf(parsed, env);
  return {
    config: configOf(parsed),
    secretOf: (envName) => {
      const value = secrets.get(envName);
      if (value === undefined)
        throw new Error('The agents configuration names no such environment variable.');
      return value;
    },
    warnings: unusedIn(parsed).map((finding) => lineOf(file, yaml.faultOf(finding))),
  };
}

/** One fault per value: it may be wrong in several ways, and that it is a secret is what its writer must know first. */
function faultsOf(yaml: YamlText, findings: readonly Finding[]): Fault[] {
  const first = new Map([...literalsIn(yaml), ...findings].reverse().map((one) => [keyOf(one), one]));
  const told = new Set(yaml.faults.map(({ path }) => path));
  return [...first.values()].map(yaml.faultOf).filter(({ path }) => !told.has(path));
}

function keyOf({ path, at }: Finding): string {
  return JSON.stringify([path, at]);
}

/** Texts that look like secrets, wherever they stand: in a header, an argument, an instruction. */
function literalsIn({ texts }: YamlText): Finding[] {
  const message =
    'looks like a secret; secrets never stand in this file. Put it into an environment variable and name that, in a key that ends in Env; then replace the secret, for it was written down';
  return texts
    .filter(({ text }) => holdsSecret(text))
    .map(({ text: _, ...where }) => ({ ...where, message }));
}

function configOf(file: AgentsFile): AgentsConfig {
  return {
    defaultAgent: file.defaultAgent ?? Object.keys(file.agents)[0] ?? '',
    models: named(file.models),
    agents: named(file.agents),
    mcpServers: named(file.mcpServers),
    connectors: named(file.connectors),
  };
}

function named<T>(entries: Readonly<Record<string, T>>): ById<T & { readonly id: string }> {
  const byId: Record<string, T & { readonly id: string }> = Object.create(null);
  for (const [id, entry] of Object.entries(entries)) byId[id] = { ...entry, id };
  return byId;
}

function textOf(path: string): string {
  const refuse = (message: string): never => {
    throw new AgentsConfigError(path, [{ path: '', message }]);
  };
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return refuse('is not a file');
    if (stats.size > FILE_BYTES_MAX) return refuse(`is larger than ${FILE_BYTES_MAX} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof AgentsConfigError) throw error;
    return refuse(REASONS[(error as NodeJS.ErrnoException).code ?? ''] ?? 'cannot be read');
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read: this user may not',
  ENOENT: 'cannot be read: there is no such file',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
};

function byPlace(a: Fault, b: Fault): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

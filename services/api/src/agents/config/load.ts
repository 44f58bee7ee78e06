/**
 * Reads the configuration file and collects all its faults, so that one start reports all of them. The rules are in the schemas
 * and in the files beside this one.
 */

import { readFileSync, statSync } from 'node:fs';
import type { AgentAccess } from './access.ts';
import { checkAgents } from './check.ts';
import { type Environment, secretsOf } from './environment.ts';
import { AgentsConfigError, type ConfigFault, type Finding, lineOf } from './fault.ts';
import type { AgentsConfig, AgentsFile, ById } from './file.ts';
import { holdsSecret } from './literal-secret.ts';
import { OfferedAgent } from './offers/mcp-offer.ts';
import { findUnused } from './references.ts';
import { readYaml, type YamlText } from './yaml.ts';

const EVERYBODY: AgentAccess = { callers: ['user', 'service'] };
const AGENTS_ONLY: AgentAccess = { callers: [] };
const FILE_BYTES_MAX = 1_048_576;

/** A configuration, and separately the secrets that it names. */
export interface LoadedAgentsConfig {
  readonly config: AgentsConfig;
  /**
   * The value of an environment variable that the configuration names. Throws for any other variable. The value must never be
   * logged.
   */
  readonly secretOf: (envName: string) => string;
  /** True if requests to models use the proxy from the environment, as Node's own setting says. */
  readonly usesProxy: boolean;
  /** Probable mistakes that are not faults, as lines to log. */
  readonly warnings: readonly string[];
}

/**
 * Reads the file that PARLEY_CONFIG names, once, at start. Throws only AgentsConfigError, with all faults, each with
 * line and column. `env` is the environment of the process. `NODE_ENV=production` in it requires https.
 */
export function loadAgentsConfig(path: string, env: Environment): LoadedAgentsConfig {
  return readAgentsConfig(readText(path), path, env);
}

/** Checks the text of a configuration. Faults name it `file`. Throws AgentsConfigError like loadAgentsConfig. */
export function readAgentsConfig(text: string, file: string, env: Environment): LoadedAgentsConfig {
  const yaml = readYaml(text);
  const refuse = (faults: readonly ConfigFault[]): never => {
    throw new AgentsConfigError(file, [...faults].sort(comparePlaces));
  };
  if (yaml.value === undefined && yaml.faults.length > 0) return refuse(yaml.faults);
  if (yaml.value === undefined || yaml.value === null) return refuse([{ path: '', message: 'is empty' }]);
  const { parsed, findings } = checkAgents(yaml.value, env);
  const faults = [...yaml.faults, ...faultsOf(yaml, findings)];
  if (faults.length > 0 || parsed === undefined) return refuse(faults);
  const secrets = secretsOf(parsed, env);
  return {
    config: buildConfig(parsed),
    usesProxy: env.NODE_USE_ENV_PROXY === '1',
    secretOf: (envName) => {
      const value = secrets.get(envName);
      if (value === undefined)
        throw new Error('The agents configuration names no such environment variable.');
      return value;
    },
    warnings: findUnused(parsed).map((finding) => lineOf(file, yaml.faultOf(finding))),
  };
}

/** At most one fault per value. If a value looks like a secret, that is the fault reported. */
function faultsOf(yaml: YamlText, findings: readonly Finding[]): ConfigFault[] {
  const first = new Map([...findLiteralSecrets(yaml), ...findings].reverse().map((one) => [keyOf(one), one]));
  const reported = new Set(yaml.faults.map(({ path }) => path));
  return [...first.values()].map(yaml.faultOf).filter(({ path }) => !reported.has(path));
}

function keyOf({ path, at }: Finding): string {
  return JSON.stringify([path, at]);
}

/** Texts that look like secrets, anywhere in the file. */
function findLiteralSecrets({ texts }: YamlText): Finding[] {
  const message =
    'looks like a secret; this file must not contain secrets. Put it into an environment variable and write the name of that variable, in a key that ends in Env; then replace the secret, because it was disclosed';
  return texts
    .filter(({ text }) => holdsSecret(text))
    .map(({ text: _, ...where }) => ({ ...where, message }));
}

function buildConfig(file: AgentsFile): AgentsConfig {
  const defaultAgent = file.defaultAgent ?? Object.keys(file.agents)[0] ?? '';
  const delegates = new Set(
    Object.values(file.agents).flatMap((agent) => agent.delegates.map(({ agent: id }) => id)),
  );
  const accessOf = (id: string) => (delegates.has(id) && id !== defaultAgent ? AGENTS_ONLY : EVERYBODY);
  const agents = Object.entries(file.agents).map(
    ([id, agent]) => [id, { ...agent, access: agent.access ?? accessOf(id) }] as const,
  );
  return {
    defaultAgent,
    models: withIds(file.models),
    agents: withIds(Object.fromEntries(agents)),
    acpAgents: withIds(file.acpAgents),
    a2aAgents: withIds(file.a2aAgents),
    agUiAgents: withIds(file.agUiAgents),
    mcpServers: withIds(file.mcpServers),
    connectors: withIds(file.connectors),
    ...(file.a2aOffer !== undefined && { a2aOffer: file.a2aOffer }),
    ...(file.notify !== undefined && { notify: file.notify }),
    mcpOffer: {
      ...file.mcpOffer,
      agents: file.mcpOffer.agents ?? Object.keys(file.agents).map((agent) => OfferedAgent.parse({ agent })),
    },
  };
}

function withIds<T>(entries: Readonly<Record<string, T>>): ById<T & { readonly id: string }> {
  const byId: Record<string, T & { readonly id: string }> = Object.create(null);
  for (const [id, entry] of Object.entries(entries)) byId[id] = { ...entry, id };
  return byId;
}

function readText(path: string): string {
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
  EACCES: 'cannot be read: no permission',
  ENOENT: 'cannot be read: there is no such file',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
};

function comparePlaces(a: ConfigFault, b: ConfigFault): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}

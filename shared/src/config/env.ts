/**
 * Turns the environment of a process into typed settings, once, so that a wrong variable stops the start. The variables
 * themselves are described in `variables.ts`; nothing outside this folder reads `process.env`.
 */

import { faultOfUrl } from '@parley/core/domain/url';
import type { BackendSettings } from '../ports/backend.ts';
import type { EngineSettings } from '../records/deps.ts';
import { parseVaultKeys } from '../vault/key-ring.ts';
import { faultsOfA2a } from './a2a-env.ts';
import { cautionsOf } from './checks/cautions.ts';
import { faultsOfSecrets } from './checks/secrets.ts';
import { faultsOfConnect } from './connect-env.ts';
import { faultsOfConsole } from './console-env.ts';
import { faultsOfMcp } from './mcp-env.ts';
import { faultsOfRedis, redisLocation, redisPlaces } from './redis-env.ts';
import { withSecretFiles } from './secret-files.ts';
import { parseServiceKeys } from './service-keys.ts';
import { faultsOfSlack } from './slack-env.ts';
import { type Env, Variables } from './variables.ts';
import { faultsOfWebhooks, webhookRules } from './webhooks-env.ts';

export type { Env } from './variables.ts';

/** Thrown with the list of all faults, so that one start reports every one of them. */
export class EnvError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The environment is not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'EnvError';
    this.faults = faults;
  }
}

/** Converts the error of a server that could not listen. If another port would help, the error names the variable to set. */
export function listenFault(
  variable: 'PORT' | 'PARLEY_METRICS_PORT',
  env: Env,
  error: NodeJS.ErrnoException,
): Error {
  const host = variable === 'PORT' ? env.PARLEY_HOST : env.PARLEY_METRICS_HOST;
  const where = `port ${env[variable]} of ${host}`;
  if (error.code === 'EADDRINUSE') {
    return new EnvError([
      `${variable}: ${where} is in use; each process on a machine needs a port of its own`,
    ]);
  }
  if (error.code === 'EACCES') return new EnvError([`${variable}: ${where} may not be used by this user`]);
  return error;
}

/**
 * Reads and checks the environment of a service. An empty variable counts as unset. Throws EnvError with all faults. The worker
 * accepts no calls, so the settings that verify callers are optional for it.
 */
export function readEnv(
  service: 'api' | 'worker',
  source: Readonly<Record<string, string | undefined>> = process.env,
): Env {
  const read = withSecretFiles(source);
  const given = Object.fromEntries(
    Object.entries(read.source).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = Variables.safeParse(given);
  if (!parsed.success) {
    throw new EnvError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  }
  const faults = [
    ...read.faults,
    ...faultsOfRedis(parsed.data),
    ...faultsOfTokens(parsed.data),
    ...faultsOfVault(parsed.data),
    ...faultsOfConnect(parsed.data),
    ...faultsOfConsole(parsed.data),
    ...faultsOfPublicUrl(parsed.data),
    ...faultsOfMcp(parsed.data),
    ...faultsOfA2a(parsed.data),
    ...(service === 'api' ? faultsOfSlack(parsed.data) : []),
    ...faultsOfWebhooks(parsed.data),
    ...(service === 'api' ? faultsOfDrain(parsed.data) : []),
    ...(parsed.data.NODE_ENV === 'production' ? faultsOfProduction(parsed.data, service) : []),
  ];
  if (faults.length > 0) throw new EnvError(faults);
  return parsed.data;
}

function faultsOfDrain({ PARLEY_DRAIN_DELAY_MS: delayMs, PARLEY_DRAIN_MS: allMs }: Env): string[] {
  return delayMs > allMs / 2
    ? ['PARLEY_DRAIN_DELAY_MS: must be at most half of PARLEY_DRAIN_MS, so that time remains to finish calls']
    : [];
}

/** Origins on this machine, with any port. */
const LOCAL_PAGES = /^http:\/\/(localhost|127\.0\.0\.1):\*$/;

function faultsOfTokens(env: Env): string[] {
  const faults = [...parseServiceKeys(env.PARLEY_API_KEYS).faults];
  for (const tenant of env.PARLEY_JWT_TENANTS) {
    if (!/^[A-Za-z0-9._-]{1,128}$/.test(tenant))
      faults.push('PARLEY_JWT_TENANTS: tenants are 1 to 128 of A-Z a-z 0-9 . _ -');
  }
  for (const origin of env.PARLEY_CORS_ORIGINS) {
    if (LOCAL_PAGES.test(origin)) {
      if (env.NODE_ENV === 'production')
        faults.push('PARLEY_CORS_ORIGINS: any port of this machine is for development only');
    } else if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      faults.push('PARLEY_CORS_ORIGINS: every entry must be an origin such as https://app.example.com');
    }
  }
  if (env.PARLEY_JWT_JWKS_URL === undefined) return faults;
  if (!URL.canParse(env.PARLEY_JWT_JWKS_URL)) faults.push('PARLEY_JWT_JWKS_URL: must be a URL');
  if (env.PARLEY_JWT_ISSUER === undefined)
    faults.push('PARLEY_JWT_ISSUER: is required with PARLEY_JWT_JWKS_URL');
  if (env.PARLEY_JWT_AUDIENCE === undefined)
    faults.push('PARLEY_JWT_AUDIENCE: is required with PARLEY_JWT_JWKS_URL');
  if (env.PARLEY_JWT_SECRET !== undefined)
    faults.push('PARLEY_JWT_SECRET: set either it or PARLEY_JWT_JWKS_URL, not both');
  return faults;
}

function faultsOfVault({ PARLEY_VAULT_KEYS: entries }: Env): readonly string[] {
  const { faults = [] } = entries.length === 0 ? {} : parseVaultKeys(entries);
  return faults;
}

function faultsOfPublicUrl({ PARLEY_PUBLIC_URL: url, NODE_ENV }: Env): string[] {
  if (url === undefined) return [];
  const fault = faultOfUrl(url, { allowLoopbackHttp: NODE_ENV !== 'production' });
  if (fault !== undefined) return [`PARLEY_PUBLIC_URL: ${fault}`];
  return new URL(url).origin === url
    ? []
    : ['PARLEY_PUBLIC_URL: must be an origin such as https://auth.example.com, without a path'];
}

/** The raw environment, for the variables that the agents' configuration file names. */
export function wholeEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** Warnings at start: what production would refuse, and what deserves attention everywhere. */
export function warningsOf(env: Env, service: 'api' | 'worker'): string[] {
  return [
    ...(env.NODE_ENV === 'production' ? [] : faultsOfProduction(env, service)),
    ...cautionsOf(env, redisPlaces(env)),
  ];
}

function faultsOfProduction(env: Env, service: 'api' | 'worker'): string[] {
  const faults = faultsOfSecrets(env);
  const { PARLEY_JWT_SECRET: secret, PARLEY_JWT_JWKS_URL: jwks } = env;
  if (service === 'api' && secret === undefined && jwks === undefined && env.PARLEY_API_KEYS.length === 0) {
    faults.push(
      'PARLEY_JWT_SECRET: production needs a way to verify callers; set it, PARLEY_JWT_JWKS_URL or PARLEY_API_KEYS',
    );
  }
  if (secret !== undefined && secret.length < 32) {
    faults.push('PARLEY_JWT_SECRET: must be at least 32 characters in production');
  }
  if (parseServiceKeys(env.PARLEY_API_KEYS).keys.some(({ secret: { length } }) => length < 24)) {
    faults.push('PARLEY_API_KEYS: secrets must be at least 24 characters in production');
  }
  if (jwks !== undefined && !jwks.startsWith('https://')) {
    faults.push('PARLEY_JWT_JWKS_URL: must be https in production');
  }
  if (env.PARLEY_LOG_MCP_STDERR) {
    faults.push(
      'PARLEY_LOG_MCP_STDERR: is for development only; the output of programs may contain answers and secrets',
    );
  }
  if (redisLocation(env) === undefined) {
    faults.push('REDIS_URL: production needs Redis; the memory backend forgets everything with its process');
  }
  return faults;
}

// This is longer than a step of a turn usually takes, and shorter than the time between two rollouts.
const DIED_SOON_MS = 600_000;

/** The limits that commits enforce. */
export function backendSettings(env: Env): BackendSettings {
  return {
    retentionMs: env.PARLEY_RETENTION_SECONDS * 1000,
    deadLetterMs: env.PARLEY_DEAD_LETTER_SECONDS * 1000,
    openPerUserMax: env.PARLEY_LIMIT_USER_OPEN,
    openBytesPerUserMax: env.PARLEY_LIMIT_USER_OPEN_BYTES,
    pageBytesMax: env.PARLEY_LIMIT_PAGE_BYTES,
    historyPerUserMax: env.PARLEY_LIMIT_USER_HISTORY,
    feedEventsMax: env.PARLEY_LIMIT_FEED_EVENTS,
    turnBytesMax: env.PARLEY_LIMIT_TURN_BYTES,
    historyMessagesMax: env.PARLEY_LIMIT_HISTORY_MESSAGES,
    historyBytesMax: env.PARLEY_LIMIT_HISTORY_BYTES,
    historyImageBytesMax: env.PARLEY_LIMIT_HISTORY_IMAGE_BYTES,
    conversationTtlMs: env.PARLEY_CONVERSATION_SECONDS * 1000,
    chatQuotas: {
      turnsMax: env.PARLEY_LIMIT_USER_TURNS,
      tokensMax: env.PARLEY_LIMIT_USER_TOKENS,
      conversationsMax: env.PARLEY_LIMIT_USER_CONVERSATIONS,
      storedBytesMax: env.PARLEY_LIMIT_USER_STORED_BYTES,
    },
    workflowEntriesMax: env.PARLEY_LIMIT_USER_WORKFLOW_ENTRIES,
    diedSoonMs: DIED_SOON_MS,
  };
}

/** How long a pod's lease on its turns and its event-stream places lasts, and how often the pod renews it. */
export function leaseTiming({ PARLEY_LEASE_MS: leaseMs }: Env): { renewMs: number; leaseMs: number } {
  return { renewMs: leaseMs / 4, leaseMs };
}

/** The limits and intervals of the engine. */
export function engineSettings(env: Env): EngineSettings {
  return {
    retentionMs: env.PARLEY_RETENTION_SECONDS * 1000,
    messageCharactersMax: env.PARLEY_LIMIT_MESSAGE_CHARACTERS,
    schemaBytesMax: env.PARLEY_LIMIT_SCHEMA_BYTES,
    schemaPropertiesMax: env.PARLEY_LIMIT_SCHEMA_PROPERTIES,
    allowLoopbackHttp: env.NODE_ENV !== 'production',
    ...(env.PARLEY_PUBLIC_URL !== undefined && {
      connectBaseUrl: `${env.PARLEY_PUBLIC_URL}/auth/connect/`,
      answerBaseUrl: `${env.PARLEY_PUBLIC_URL}/auth/answer/`,
    }),
    webhooks: webhookRules(env),
    graceMs: env.PARLEY_GRACE_MS,
    recheckMs: env.PARLEY_RECHECK_MS,
    knownBytesMax: env.PARLEY_LIMIT_KNOWN_BYTES,
  };
}

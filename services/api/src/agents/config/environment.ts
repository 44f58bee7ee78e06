import { faultOfUrl } from '@parley/shared/domain/url';
import type { Finding, Path } from './fault.ts';
import type { AgentsFile } from './file.ts';

/** The environment of the process, as runtime/env.ts hands it over. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Use {
  readonly path: Path;
  readonly name: string;
  /** Sent as (part of) a header, which cannot hold everything; a process takes any text. */
  readonly inHeader: boolean;
}

/** Variables that the file names and the environment does not give, or gives in a way that cannot work. */
export function faultsOfEnvironment(file: AgentsFile, env: Environment): Finding[] {
  return usesIn(file).flatMap(({ path, name, inHeader }) => {
    const value = env[name];
    if (value === undefined || value === '') {
      return [{ path, message: `names an environment variable${shown(name)} that is not set` }];
    }
    if (inHeader && /^\s|\s$/.test(value)) {
      const message = `the value of this environment variable${shown(name)} begins or ends with a blank or line break, as secrets read from files often do`;
      return [{ path, message }];
    }
    // What undici refuses in a header it would refuse at the first call, with the value in its message.
    return inHeader && /[^\u0020-\u007e]/.test(value)
      ? [{ path, message: `the value of this environment variable${shown(name)} is not printable ASCII` }]
      : [];
  });
}

/** The variables that the file names, each with what it holds. */
export function secretsOf(file: AgentsFile, env: Environment): ReadonlyMap<string, string> {
  return new Map(usesIn(file).map(({ name }) => [name, env[name] ?? '']));
}

/** Addresses that would carry credentials in the clear, or send people to a page that could be anybody's. */
export function faultsOfAddresses(file: AgentsFile, isProduction: boolean): Finding[] {
  const called = calledIn(file).flatMap(({ path, url }) => {
    const { protocol, hostname } = new URL(url);
    // A sidecar is as near as the process itself.
    if (!isProduction || protocol === 'https:' || LOOPBACK.has(hostname)) return [];
    const message =
      'must be https in production (http only on loopback), or what is sent could be read on the way';
    return [{ path, message }];
  });
  const providers = providersIn(file).flatMap(({ path, url }) => {
    const message = faultOfUrl(url, { allowLoopbackHttp: !isProduction });
    if (message === undefined) return [];
    return [{ path, message: isProduction ? `${message} in production` : message }];
  });
  return [...called, ...providers];
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

function usesIn(file: AgentsFile): Use[] {
  const use = (path: Path, name: string | undefined, inHeader: boolean): Use[] =>
    name === undefined ? [] : [{ path, name, inHeader }];
  return [
    ...Object.entries(file.models).flatMap(([id, { apiKeyEnv }]) =>
      use(['models', id, 'apiKeyEnv'], apiKeyEnv, true),
    ),
    ...Object.entries(file.mcpServers).flatMap(([id, server]) => {
      if (server.transport === 'stdio') {
        return server.env.flatMap((name, index) => use(['mcpServers', id, 'env', index], name, false));
      }
      return Object.entries(server.headersFromEnv).flatMap(([header, name]) =>
        use(['mcpServers', id, 'headersFromEnv', header], name, true),
      );
    }),
    ...Object.entries(file.connectors).flatMap(([id, connector]) => {
      if (connector.type === 'api_key') return [];
      if (connector.type === 'oauth2') {
        return use(['connectors', id, 'clientSecretEnv'], connector.clientSecretEnv, true);
      }
      return [
        ...use(['connectors', id, 'secretKeyEnv'], connector.secretKeyEnv, true),
        ...use(['connectors', id, 'webhookKeyEnv'], connector.webhookKeyEnv, true),
      ];
    }),
  ];
}

interface Address {
  readonly path: Path;
  readonly url: string;
}

/** What Parley calls as its operator asked it to: models and MCP servers. */
function calledIn(file: AgentsFile): Address[] {
  return [
    ...Object.entries(file.models).flatMap(([id, model]) => addresses(['models', id], model, ['baseUrl'])),
    ...Object.entries(file.mcpServers).flatMap(([id, server]) =>
      addresses(['mcpServers', id], server, ['url']),
    ),
  ];
}

/** Where people are sent to and what vouches for them. */
function providersIn(file: AgentsFile): Address[] {
  const keys = [
    'issuer',
    'authorizationEndpoint',
    'tokenEndpoint',
    'revocationEndpoint',
    'checkUrl',
    'apiUrl',
  ];
  return Object.entries(file.connectors).flatMap(([id, one]) => addresses(['connectors', id], one, keys));
}

function addresses(path: Path, entry: object, keys: readonly string[]): Address[] {
  return keys.flatMap((key) => {
    const url = (entry as Readonly<Record<string, unknown>>)[key];
    return typeof url === 'string' ? [{ path: [...path, key], url }] : [];
  });
}

/** A name is told only if it is plainly one: a secret written in its place must not be. */
function shown(name: string): string {
  const words = name.split('_');
  const isPlain = words.length > 1 && words.every((word) => /^(?:[A-Z]{1,20}\d{0,2}|\d{1,4})$/.test(word));
  return isPlain ? ` (${name})` : '';
}

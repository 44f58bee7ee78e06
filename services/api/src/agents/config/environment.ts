/**
 * Checks the environment variables that the configuration names, and the URLs in production. References between entries are
 * checked in `references.ts`.
 */

import { faultOfUrl, LOOPBACK_HOSTS } from '@parley/core/domain/url';
import type { Finding, Path } from './fault.ts';
import type { AgentsFile } from './file.ts';
import { isReadable, readSigningKey } from './signing-key.ts';

/** The environment of the process, as config/env.ts returns it. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Use {
  readonly path: Path;
  readonly name: string;
  /**
   * True if the value is sent in a header, which accepts printable ASCII only. The environment of a process accepts any text.
   */
  readonly inHeader: boolean;
}

/** Variables that the file names but that are unset, or whose values cannot work. */
export function faultsOfEnvironment(file: AgentsFile, env: Environment): Finding[] {
  return findUses(file).flatMap(({ path, name, inHeader }) => {
    const value = env[name];
    if (value === undefined || value === '') {
      return [{ path, message: `names an environment variable${shown(name)} that is not set` }];
    }
    if (inHeader && /^\s|\s$/.test(value)) {
      const message = `the value of this environment variable${shown(name)} begins or ends with a blank or line break, as secrets read from files often do`;
      return [{ path, message }];
    }
    // The HTTP client would refuse such a header at the first call, with the value in its error message.
    return inHeader && /[^\u0020-\u007e]/.test(value)
      ? [{ path, message: `the value of this environment variable${shown(name)} is not printable ASCII` }]
      : [];
  });
}

/** Keys and tokens of connectors that cannot be used. An unset variable is reported elsewhere. */
export function faultsOfKeys({ connectors }: AgentsFile, env: Environment): Finding[] {
  return Object.entries(connectors).flatMap(([id, connector]): Finding[] => {
    if (connector.type === 'workload_identity')
      return isReadable(connector.tokenFile)
        ? []
        : [{ path: ['connectors', id, 'tokenFile'], message: 'names a file that cannot be read' }];
    if (connector.type !== 'client_credentials' || connector.clientSecretEnv !== undefined) return [];
    const fromEnv = env[connector.privateKeyEnv ?? ''];
    if (connector.privateKeyFile === undefined && !fromEnv) return [];
    const read = readSigningKey(connector, fromEnv ?? '');
    return 'fault' in read ? [{ path: ['connectors', id, read.at], message: read.fault }] : [];
  });
}

/** The variables that the file names, with their values. */
export function secretsOf(file: AgentsFile, env: Environment): ReadonlyMap<string, string> {
  return new Map(findUses(file).map(({ name }) => [name, env[name] ?? '']));
}

/** URLs that would send credentials unencrypted, or people to a page that cannot be authenticated. */
export function faultsOfAddresses(file: AgentsFile, isProduction: boolean): Finding[] {
  const called = findCalledUrls(file).flatMap(({ path, url }) => {
    const { protocol, hostname } = new URL(url);
    // Traffic to a sidecar does not leave the machine.
    if (!isProduction || protocol === 'https:' || LOOPBACK_HOSTS.has(hostname)) return [];
    const message =
      'must be https in production (http only on loopback), or what is sent could be read on the way';
    return [{ path, message }];
  });
  const providers = findProviderUrls(file).flatMap(({ path, url }) => {
    const message = faultOfUrl(url, { allowLoopbackHttp: !isProduction });
    if (message === undefined) return [];
    return [{ path, message: isProduction ? `${message} in production` : message }];
  });
  return [...called, ...providers];
}

function findUses(file: AgentsFile): Use[] {
  const use = (path: Path, name: string | undefined, inHeader: boolean): Use[] =>
    name === undefined ? [] : [{ path, name, inHeader }];
  return [
    ...Object.entries(file.models).flatMap(([id, { apiKeyEnv }]) =>
      use(['models', id, 'apiKeyEnv'], apiKeyEnv, true),
    ),
    ...Object.entries(file.acpAgents).flatMap(([id, { env }]) =>
      env.flatMap((name, index) => use(['acpAgents', id, 'env', index], name, false)),
    ),
    ...(['a2aAgents', 'agUiAgents'] as const).flatMap((section) =>
      Object.entries<{ headersFromEnv: Record<string, string> }>(file[section]).flatMap(
        ([id, { headersFromEnv }]) =>
          Object.entries(headersFromEnv).flatMap(([header, name]) =>
            use([section, id, 'headersFromEnv', header], name, true),
          ),
      ),
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
      if (connector.type === 'api_key' || connector.type === 'workload_identity') return [];
      if (connector.type === 'oauth2' || connector.type === 'mcp_oauth') {
        return use(['connectors', id, 'clientSecretEnv'], connector.clientSecretEnv, true);
      }
      if (connector.type === 'client_credentials') {
        const { clientSecretEnv, privateKeyEnv } = connector;
        return [
          ...use(['connectors', id, 'clientSecretEnv'], clientSecretEnv, true),
          ...use(['connectors', id, 'privateKeyEnv'], privateKeyEnv, false),
        ];
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

/** URLs that Parley calls: those of models, MCP servers and remote agents. */
function findCalledUrls(file: AgentsFile): Address[] {
  return [
    ...Object.entries(file.models).flatMap(([id, model]) => addresses(['models', id], model, ['baseUrl'])),
    ...Object.entries(file.mcpServers).flatMap(([id, server]) =>
      addresses(['mcpServers', id], server, ['url']),
    ),
    ...Object.entries(file.agUiAgents).flatMap(([id, agent]) =>
      addresses(['agUiAgents', id], agent, ['url']),
    ),
    ...Object.entries(file.a2aAgents).flatMap(([id, agent]) => [
      ...addresses(['a2aAgents', id], agent, ['cardUrl']),
      ...agent.origins.map((url, index) => ({ path: ['a2aAgents', id, 'origins', index], url })),
    ]),
  ];
}

/** URLs of the connectors' providers, to which people or secrets are sent. */
function findProviderUrls(file: AgentsFile): Address[] {
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

/** The name in parentheses, if it is clearly a variable name: a secret that was written in its place is not shown. */
function shown(name: string): string {
  const words = name.split('_');
  const isPlain = words.length > 1 && words.every((word) => /^(?:[A-Z]{1,20}\d{0,2}|\d{1,4})$/.test(word));
  return isPlain ? ` (${name})` : '';
}

/** Builds a connector for each service that people can connect. What connectors do is in `accounts/connectors`. */

import { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import type { Connector } from '../../accounts/connector.ts';
import { createApiKeyConnector } from '../../accounts/connectors/api-key.ts';
import { createMcpOAuthConnector } from '../../accounts/connectors/mcp-oauth/mcp-oauth.ts';
import { createNangoConnector } from '../../accounts/connectors/nango.ts';
import { createOAuth2Connector } from '../../accounts/connectors/oauth2.ts';
import { createSecretConnector, SECRET_CONNECTOR_ID } from '../../accounts/connectors/secret.ts';
import type { GrantFor } from '../../accounts/managed/sign-ins.ts';
import { clientMetadataPath } from '../../accounts/own-pages.ts';
import type { AccountTargets, CredentialTarget } from '../../accounts/targets.ts';
import { isOfProject } from '../../agents/config/connectors.ts';
import type {
  ApiKeyConnector,
  McpOAuthConnector,
  NamedConnector,
  NangoConnector,
  OAuth2Connector,
  ProjectConnectorEntry,
} from '../../agents/config/file.ts';
import type { LoadedAgentsConfig } from '../../agents/config/load.ts';

interface ConnectorSettings {
  /** Origin of the hosted pages, to which providers redirect people. */
  readonly publicUrl: string;
  readonly allowLoopbackHttp: boolean;
  /** Present if sign-ins connect accounts. */
  readonly grantFor?: GrantFor | undefined;
}

/** The accounts that people can connect under a configuration, and their connectors. */
export function createConnectTargets(
  loaded: LoadedAgentsConfig,
  settings: ConnectorSettings,
): AccountTargets {
  const { mcpServers, a2aAgents } = loaded.config;
  const connectors = createConnectors(loaded, settings);
  const secret = { kind: 'secret', toolId: SECRET_TOOL_ID, connector: createSecretConnector() } as const;
  const findCredential = (toolId: string): CredentialTarget | undefined => {
    const server = mcpServers[toolId];
    const service = server?.transport === 'http' ? server : a2aAgents[toolId];
    if (service?.connector === undefined || service.credentialScope !== 'user') return undefined;
    const connector = connectors.get(service.connector);
    return connector && { kind: 'credential', toolId, service: service.title, connector };
  };
  return {
    connector: (id) => (id === SECRET_CONNECTOR_ID ? secret.connector : connectors.get(id)),
    credentials: () =>
      [...Object.keys(mcpServers), ...Object.keys(a2aAgents)].flatMap(
        (toolId) => findCredential(toolId) ?? [],
      ),
    find: (toolId) => (toolId === SECRET_TOOL_ID ? secret : findCredential(toolId)),
  };
}

function createConnectors(
  { config, secretOf }: LoadedAgentsConfig,
  settings: ConnectorSettings,
): ReadonlyMap<string, Connector> {
  const guardedFetch = createGuardedFetch({ allowLoopback: settings.allowLoopbackHttp });
  const metadataFetch = createGuardedFetch({ allowLoopback: settings.allowLoopbackHttp, ...METADATA_BOUNDS });
  const mcpOAuthOf = (entry: McpOAuthConnector) =>
    createMcpOAuthConnector(
      { ...mcpOAuthOptions(entry, secretOf, settings), ...serverUrlOf(config, entry.id) },
      { guardedFetch: metadataFetch, ...(entry.enterpriseManaged && { grantFor: settings.grantFor }) },
    );
  const createConnector = (entry: Exclude<NamedConnector, ProjectConnectorEntry>): Connector => {
    switch (entry.type) {
      case 'oauth2':
        return oauth2Of(entry, secretOf, settings);
      case 'mcp_oauth':
        return mcpOAuthOf(entry);
      case 'api_key':
        return createApiKeyConnector(createApiKey(entry), { guardedFetch });
      case 'nango':
        return createNango(entry, secretOf, settings);
    }
  };
  // Connectors of the project itself have no page.
  return new Map(
    Object.values(config.connectors).flatMap((entry) =>
      isOfProject(entry) ? [] : [[entry.id, createConnector(entry)] as const],
    ),
  );
}

type SecretOf = LoadedAgentsConfig['secretOf'];

function oauth2Of(entry: OAuth2Connector, secretOf: SecretOf, settings: ConnectorSettings): Connector {
  const { id, clientId, scopes, authorizationParameters, clientSecretEnv, clientAuthentication, resource } =
    entry;
  return createOAuth2Connector({
    id,
    server: serverOf(entry),
    clientId,
    scopes,
    authorizationParameters,
    redirectUri: `${settings.publicUrl}/auth/callback/${id}`,
    allowLoopbackHttp: settings.allowLoopbackHttp,
    ...(clientSecretEnv !== undefined && { clientSecret: secretOf(clientSecretEnv) }),
    ...(clientAuthentication !== undefined && { clientAuthentication }),
    ...(resource !== undefined && { resource }),
  });
}

/** The metadata of an authorization server may be long. */
export const METADATA_BOUNDS = { timeoutMs: 10_000, responseBytesMax: 256 * 1024 };

function mcpOAuthOptions(entry: McpOAuthConnector, secretOf: SecretOf, settings: ConnectorSettings) {
  const { id, clientName, issuer, clientId, clientSecretEnv, clientAuthentication, scopes } = entry;
  const { publicUrl, allowLoopbackHttp } = settings;
  const secret = clientSecretEnv !== undefined && { clientSecret: secretOf(clientSecretEnv) };
  const method = clientAuthentication !== undefined && { clientAuthentication };
  return {
    id,
    clientName,
    redirectUri: `${publicUrl}/auth/callback/${id}`,
    allowLoopbackHttp,
    // Authorization servers accept such a client id only with https.
    ...(publicUrl.startsWith('https:') && { metadataUrl: `${publicUrl}${clientMetadataPath(id)}` }),
    ...(issuer !== undefined && { issuer }),
    ...(clientId !== undefined && { client: { clientId, ...secret, ...method } }),
    ...(scopes !== undefined && { scopes }),
  };
}

/** The server that uses the connector. The check of the file ensures that there is at most one. */
function serverUrlOf(
  { mcpServers }: LoadedAgentsConfig['config'],
  connectorId: string,
): { readonly serverUrl?: string } {
  const server = Object.values(mcpServers).find(
    (one) => one.transport === 'http' && one.connector === connectorId,
  );
  return server?.transport === 'http' ? { serverUrl: server.url } : {};
}

function serverOf({ issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint }: OAuth2Connector) {
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) return { issuer: issuer ?? '' };
  return {
    authorizationEndpoint,
    tokenEndpoint,
    ...(issuer !== undefined && { issuer }),
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
  };
}

function createApiKey({ id, label, instructions, header, checkUrl }: ApiKeyConnector) {
  return {
    id,
    label,
    help: instructions,
    header: header.name,
    prefix: header.prefix,
    ...(checkUrl !== undefined && { checkUrl }),
  };
}

function createNango(entry: NangoConnector, secretOf: SecretOf, settings: ConnectorSettings): Connector {
  return createNangoConnector({
    id: entry.id,
    integration: entry.integrationId,
    secretKey: secretOf(entry.secretKeyEnv),
    webhookSigningKey: secretOf(entry.webhookKeyEnv),
    host: entry.apiUrl,
    allowLoopbackHttp: settings.allowLoopbackHttp,
    ...(entry.apiKeyHeader !== undefined && { apiKeyHeader: entry.apiKeyHeader }),
  });
}

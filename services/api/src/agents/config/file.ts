import { NotifyRules } from '@parley/core/domain/notify';
import { z } from 'zod';
import type { AgentAccess } from './access.ts';
import { Agent as AgentEntry } from './agents.ts';
import { Connector as ConnectorEntry } from './connectors.ts';
import { Model as ModelEntry } from './models.ts';
import { A2aOfferEntry } from './offers/a2a-offer.ts';
import { McpOfferEntry } from './offers/mcp-offer.ts';
import { A2aAgent as A2aAgentEntry } from './services/a2a-agents.ts';
import { AcpAgent as AcpAgentEntry } from './services/acp-agents.ts';
import { AgUiAgent as AgUiAgentEntry } from './services/ag-ui-agents.ts';
import { McpServer as McpServerEntry } from './services/mcp-servers.ts';
import { Id } from './value-types.ts';

/** The schema of the file that PARLEY_CONFIG names. The reference in docs/agents.md is generated from it. */
export const AgentsFile = z.strictObject({
  defaultAgent: Id.optional().describe(
    'Agent of a turn that does not name one. Optional when there is only one agent.',
  ),
  models: z.record(Id, ModelEntry).default({}).describe('Language models, by id.'),
  agents: z.record(Id, AgentEntry).default({}).describe('Agents, by id. At least one.'),
  acpAgents: z
    .record(Id, AcpAgentEntry)
    .default({})
    .describe(
      'Programs that speak the Agent Client Protocol (ACP), by id. Agents may delegate tasks to them.',
    ),
  a2aAgents: z
    .record(Id, A2aAgentEntry)
    .default({})
    .describe('Agents elsewhere that speak A2A, by id. Agents may delegate tasks to them.'),
  agUiAgents: z
    .record(Id, AgUiAgentEntry)
    .default({})
    .describe('Agents elsewhere that speak AG-UI, by id. Agents may delegate tasks to them.'),
  mcpServers: z.record(Id, McpServerEntry).default({}).describe('MCP servers, by id.'),
  connectors: z
    .record(Id, ConnectorEntry)
    .default({})
    .describe('Ways to obtain a credential, a person’s or the project’s own, by id.'),
  notify: NotifyRules.optional().describe(
    'A channel that notifies people of open questions that services ask over `/v1` (docs/slack.md).',
  ),
  mcpOffer: McpOfferEntry,
  a2aOffer: A2aOfferEntry,
});
export type AgentsFile = z.infer<typeof AgentsFile>;

interface Named {
  readonly id: string;
}
export type Model = z.infer<typeof ModelEntry> & Named;
export type Agent = z.infer<typeof AgentEntry> & Named & { readonly access: AgentAccess };
export type AcpAgent = z.infer<typeof AcpAgentEntry> & Named;
export type A2aAgent = z.infer<typeof A2aAgentEntry> & Named;
export type AgUiAgent = z.infer<typeof AgUiAgentEntry> & Named;
export type McpServer = z.infer<typeof McpServerEntry> & Named;
export type HttpMcpServer = Extract<McpServer, { transport: 'http' }>;
export type NamedConnector = z.infer<typeof ConnectorEntry> & Named;
export type OAuth2Connector = Extract<NamedConnector, { type: 'oauth2' }>;
export type McpOAuthConnector = Extract<NamedConnector, { type: 'mcp_oauth' }>;
export type ApiKeyConnector = Extract<NamedConnector, { type: 'api_key' }>;
export type NangoConnector = Extract<NamedConnector, { type: 'nango' }>;
/** Connectors for the project's own credentials. The others ask a person. */
export type ProjectConnectorEntry = Extract<
  NamedConnector,
  { type: 'client_credentials' | 'workload_identity' }
>;
export type ClientCredentialsConnector = Extract<ProjectConnectorEntry, { type: 'client_credentials' }>;

/** Entries by id. The object has no prototype, so an id from a request never finds an inherited property. */
export type ById<T> = Readonly<Record<string, T>>;

/**
 * A checked configuration: every reference leads to an entry, and delegation has no cycles. It contains names of
 * environment variables and never their values, so it may be logged.
 */
export interface AgentsConfig {
  readonly defaultAgent: string;
  readonly models: ById<Model>;
  readonly agents: ById<Agent>;
  readonly acpAgents: ById<AcpAgent>;
  readonly a2aAgents: ById<A2aAgent>;
  readonly agUiAgents: ById<AgUiAgent>;
  readonly mcpServers: ById<McpServer>;
  readonly connectors: ById<NamedConnector>;
  readonly a2aOffer?: A2aOfferEntry;
  readonly notify?: NotifyRules;
  readonly mcpOffer: Omit<McpOfferEntry, 'agents'> & {
    readonly agents: NonNullable<McpOfferEntry['agents']>;
  };
}

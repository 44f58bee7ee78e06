/**
 * Checks what a schema cannot check: references between entries, and contradictions among them. Environment variables are
 * checked in `environment.ts`.
 */

import { isOfProject } from './connectors.ts';
import { hint } from './error-map.ts';
import type { Finding, Path } from './fault.ts';
import type { AgentsFile } from './file.ts';
import { Id } from './value-types.ts';

const SECTIONS = [
  'models',
  'agents',
  'acpAgents',
  'a2aAgents',
  'agUiAgents',
  'mcpServers',
  'connectors',
] as const;
type Section = (typeof SECTIONS)[number];
/** The sections of agents that are called through a protocol. */
const REMOTE_SECTIONS = ['acpAgents', 'a2aAgents', 'agUiAgents'] as const;
/**
 * The ids in each section of the file, including those of invalid entries, so that a reference to an invalid entry is not a
 * second fault.
 */
export type Ids = Readonly<Record<Section, readonly string[]>>;

/** The valid ids in a file that has not been checked yet. */
export function idsOf(value: unknown): Ids {
  const of = (section: Section): string[] => {
    const entries = (value as Partial<Record<Section, unknown>> | null)?.[section];
    return typeof entries === 'object' && entries !== null
      ? Object.keys(entries).filter((id) => Id.safeParse(id).success)
      : [];
  };
  return {
    models: of('models'),
    agents: of('agents'),
    acpAgents: of('acpAgents'),
    a2aAgents: of('a2aAgents'),
    agUiAgents: of('agUiAgents'),
    mcpServers: of('mcpServers'),
    connectors: of('connectors'),
  };
}

type Refer = (path: Path, id: string, ...sections: readonly Section[]) => void;

function referFromA2a({ a2aOffer }: AgentsFile, refer: Refer): Finding[] {
  const agents = (a2aOffer?.agents ?? []).map(({ agent }) => agent);
  for (const [index, id] of agents.entries()) refer(['a2aOffer', 'agents', index, 'agent'], id, 'agents');
  return duplicates(agents, (index) => ['a2aOffer', 'agents', index, 'agent']);
}

function referFromOffer({ mcpOffer }: AgentsFile, refer: Refer): Finding[] {
  const agents = (mcpOffer.agents ?? []).map(({ agent }) => agent);
  const servers = mcpOffer.tools.map(({ server }) => server);
  for (const [index, id] of agents.entries()) refer(['mcpOffer', 'agents', index, 'agent'], id, 'agents');
  for (const [index, id] of servers.entries())
    refer(['mcpOffer', 'tools', index, 'server'], id, 'mcpServers');
  return [
    ...duplicates(agents, (index) => ['mcpOffer', 'agents', index, 'agent']),
    ...duplicates(servers, (index) => ['mcpOffer', 'tools', index, 'server']),
    ...faultsOfUnprefixed(mcpOffer),
  ];
}

/**
 * An unprefixed name must always mean the same tool, whichever servers can be reached. So the file must say which server it
 * belongs to.
 */
function faultsOfUnprefixed({ tools }: AgentsFile['mcpOffer']): Finding[] {
  const unprefixed = tools.flatMap(({ prefix, allow }, index) => (prefix ? [] : [{ allow, index }]));
  if (unprefixed.length < 2) return [];
  const names = unprefixed.flatMap(({ allow = [], index }) =>
    allow.map((name, at) => ({ name, path: ['mcpOffer', 'tools', index, 'allow', at] })),
  );
  return [
    ...unprefixed
      .filter(({ allow }) => allow === undefined)
      .map(({ index }) => ({
        path: ['mcpOffer', 'tools', index, 'prefix'],
        message: 'requires `allow`, because several servers have `prefix: false`',
      })),
    ...duplicates(
      names.map(({ name }) => name),
      (at) => names[at]?.path ?? [],
    ),
  ];
}

/** References to entries that do not exist, and duplicate references. */
export function faultsOfReferences(file: AgentsFile, ids: Ids): Finding[] {
  const findings: Finding[] = [];
  const refer: Refer = (path, id, ...sections) => {
    const known = sections.flatMap((section) => ids[section]);
    const names = sections.map((section) => `\`${section}\``).join(' or ');
    if (!known.includes(id)) findings.push({ path, message: `names no entry of ${names}${hint(id, known)}` });
  };
  findings.push(...faultsOfIds(ids));
  for (const [id, agent] of Object.entries(file.agents)) {
    refer(['agents', id, 'model'], agent.model, 'models');
    for (const [index, { server }] of agent.tools.entries()) {
      refer(['agents', id, 'tools', index, 'server'], server, 'mcpServers');
    }
    for (const [index, delegate] of agent.delegates.entries()) {
      const path = ['agents', id, 'delegates', index, 'agent'] as const;
      refer(path, delegate.agent, 'agents', ...REMOTE_SECTIONS);
      const others = [...ids.agents, ...ids.acpAgents, ...ids.agUiAgents];
      const isOther = others.includes(delegate.agent);
      if (delegate.skills && isOther)
        findings.push({
          path: ['agents', id, 'delegates', index, 'skills'],
          message: 'is for entries of `a2aAgents` only',
        });
    }
    findings.push(
      ...duplicates(
        agent.tools.map(({ server }) => server),
        (index) => ['agents', id, 'tools', index, 'server'],
      ),
      ...duplicates(
        agent.delegates.map((one) => one.agent),
        (index) => ['agents', id, 'delegates', index, 'agent'],
      ),
    );
  }
  for (const { path, connector } of servicesOf(file)) {
    if (connector !== undefined) refer([...path, 'connector'], connector, 'connectors');
  }
  findings.push(...faultsOfSharedConnectors(file), ...faultsOfWrongConnectors(file));
  if (file.defaultAgent !== undefined) refer(['defaultAgent'], file.defaultAgent, 'agents');
  findings.push(...referFromOffer(file, refer), ...referFromA2a(file, refer));
  return findings;
}

/** Ids that are used twice. Agents of all kinds share one namespace, and so do the services that have accounts. */
function faultsOfIds({ agents, acpAgents, a2aAgents, agUiAgents, mcpServers }: Ids): Finding[] {
  const same = (section: Section, others: Section, ids: readonly string[], taken: readonly string[]) =>
    ids
      .filter((id) => taken.includes(id))
      .map(
        (id): Finding => ({
          path: [section, id],
          message: `has the id of an entry of \`${others}\``,
          at: 'key',
        }),
      );
  return [
    ...same('acpAgents', 'agents', acpAgents, agents),
    ...same('a2aAgents', 'agents', a2aAgents, agents),
    ...same('a2aAgents', 'acpAgents', a2aAgents, acpAgents),
    ...same('a2aAgents', 'mcpServers', a2aAgents, mcpServers),
    ...same('agUiAgents', 'agents', agUiAgents, agents),
    ...same('agUiAgents', 'acpAgents', agUiAgents, acpAgents),
    ...same('agUiAgents', 'a2aAgents', agUiAgents, a2aAgents),
    ...same('agUiAgents', 'mcpServers', agUiAgents, mcpServers),
  ];
}

/** The services that are called over HTTP and may have a connector. */
function servicesOf({ mcpServers, a2aAgents, agUiAgents }: AgentsFile) {
  const servers = Object.entries(mcpServers).flatMap(([id, server]) =>
    server.transport === 'http' ? [{ ...server, path: ['mcpServers', id] }] : [],
  );
  return [
    ...servers,
    ...Object.entries(a2aAgents).map(([id, agent]) => ({ ...agent, path: ['a2aAgents', id] })),
    ...Object.entries(agUiAgents).map(([id, agent]) => ({ ...agent, path: ['agUiAgents', id] })),
  ];
}

/** The connector of a service, where it names one. */
function connectorOf({ connectors }: AgentsFile, id: string | undefined) {
  return id !== undefined && Object.hasOwn(connectors, id) ? connectors[id] : undefined;
}

/** Services whose connector obtains another kind of credential than the service sends. */
function faultsOfWrongConnectors(file: AgentsFile): Finding[] {
  return servicesOf(file).flatMap(({ path, connector: id, credentialScope: scope }) => {
    const connector = connectorOf(file, id);
    if (connector === undefined) return [];
    const isProjects = isOfProject(connector);
    const refuse = (message: string): Finding[] => [{ path: [...path, 'connector'], message }];
    if (isProjects && path[0] !== 'mcpServers')
      return refuse(`has \`type: ${connector.type}\`, which is for MCP servers`);
    if (isProjects && scope === 'user')
      return refuse(`has \`type: ${connector.type}\`, which is for \`credentialScope: project\``);
    return !isProjects && scope === 'project'
      ? refuse(
          'asks a person to connect; `credentialScope: project` takes `type: client_credentials` or `workload_identity`',
        )
      : [];
  });
}

/** A connector that discovers its authorization server belongs to one MCP server. Two servers would share its redirect URI. */
function faultsOfSharedConnectors(file: AgentsFile): Finding[] {
  const users = servicesOf(file).flatMap(({ path, connector }) =>
    connector !== undefined && connectorOf(file, connector)?.type === 'mcp_oauth'
      ? [{ path, connector }]
      : [],
  );
  return users.flatMap(({ path, connector }, index) => {
    const isFirst = users.findIndex((one) => one.connector === connector) === index;
    if (isFirst && path[0] === 'mcpServers') return [];
    return [
      {
        path: [...path, 'connector'],
        message: isFirst
          ? 'has `type: mcp_oauth`, which is for MCP servers'
          : 'is used by another server, and a connector with `type: mcp_oauth` serves one',
      },
    ];
  });
}

/** Headers that both the project and the person's credential would set. */
export function faultsOfHeaders(file: AgentsFile): Finding[] {
  return servicesOf(file).flatMap(({ path, connector: id, headersFromEnv }) => {
    const connector = connectorOf(file, id);
    if (connector === undefined) return [];
    const carrier = headerOf(connector).toLowerCase();
    return Object.keys(headersFromEnv)
      .filter((name) => name.toLowerCase() === carrier)
      .map((name) => ({
        path: [...path, 'headersFromEnv', name],
        message: 'is the header that carries the credential that the connector obtains',
      }));
  });
}

function headerOf(connector: AgentsFile['connectors'][string]): string {
  if (connector.type === 'api_key') return connector.header.name;
  return (connector.type === 'nango' ? connector.apiKeyHeader : undefined) ?? 'Authorization';
}

/** Faults of the default agent: the file has no agents, has several and no default, or names a default that nobody may use. */
export function faultsOfDefault(file: AgentsFile, ids: Ids): Finding[] {
  if (ids.agents.length === 0) {
    const isNeeded = file.mcpOffer.tools.length === 0;
    return isNeeded ? [{ path: ['agents'], message: 'is required; it defines no agent' }] : [];
  }
  if (file.defaultAgent === undefined && ids.agents.length > 1)
    return [{ path: ['defaultAgent'], message: 'is required where there are several agents' }];
  return Object.entries(file.agents)
    .filter(
      ([id, { access }]) => access?.callers?.length === 0 && id === (file.defaultAgent ?? ids.agents[0]),
    )
    .map(([id]) => ({
      path: ['agents', id, 'access', 'callers'],
      message: 'is empty, but this is the default agent',
    }));
}

/** Entries to which nothing refers. They are probably a mistake, but not a fault. */
export function findUnused(file: AgentsFile): Finding[] {
  const agents = Object.values(file.agents);
  const delegates = new Set(agents.flatMap((agent) => agent.delegates.map(({ agent: id }) => id)));
  const used: Readonly<Record<Exclude<Section, 'agents'>, ReadonlySet<string | undefined>>> = {
    models: new Set(agents.map(({ model }) => model)),
    acpAgents: delegates,
    a2aAgents: delegates,
    agUiAgents: delegates,
    mcpServers: new Set([...agents, file.mcpOffer].flatMap(({ tools }) => tools.map(({ server }) => server))),
    connectors: new Set(servicesOf(file).map(({ connector }) => connector)),
  };
  return (['models', ...REMOTE_SECTIONS, 'mcpServers', 'connectors'] as const).flatMap((section) =>
    Object.keys(file[section])
      .filter((id) => !used[section].has(id))
      .map((id): Finding => ({ path: [section, id], message: 'is not used', at: 'key' })),
  );
}

function duplicates(names: readonly string[], pathOf: (index: number) => Path): Finding[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) < index ? [{ path: pathOf(index), message: 'occurs twice' }] : [],
  );
}

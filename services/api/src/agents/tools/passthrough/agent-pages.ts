/**
 * Finds the pages of servers that chats of agents may show, and the tools that these pages may call. Running such calls is in
 * `turns/pages`.
 */

import type { Owner } from '@parley/core/domain/ids';
import { isRecord } from '@parley/core/domain/plain-record';
import { PAGE_TYPE } from '@parley/shared/domain/runs/pages';
import type { CallPage } from '@parley/shared/domain/runs/turn-events';
import type { AgentsConfig } from '../../config/file.ts';
import type { McpReadResult, McpTool } from '../../mcp/results.ts';
import type { ServerTool } from '../../run/one-call.ts';
import type { NamedTools } from '../named-tools.ts';
import { resultOf, serverUnavailable } from './content-replies.ts';
import type { Askable } from './person.ts';

/** A page of a server, and the server's requirements for its frame. */
export interface ServerPage {
  readonly html: string;
  /** The origins from which the page may load, by the kind of resource. */
  readonly csp: Readonly<Record<CspKey, readonly string[]>>;
  /** The browser features that the page requests. */
  readonly permissions: readonly PagePermission[];
  readonly prefersBorder?: boolean;
}

type CspKey = 'connectDomains' | 'resourceDomains' | 'frameDomains' | 'baseUriDomains';
const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'clipboardWrite'] as const;
type PagePermission = (typeof PERMISSIONS)[number];

/** The person who sees the page of an agent's call. */
interface PageViewer extends Owner {
  /** The agent of the turn. */
  readonly agent: string;
  readonly signal: AbortSignal;
}

/**
 * The pages of servers in the chats of agents, as far as the configuration now allows them. Throws `unavailable` if a server
 * cannot be reached, and `invalid_request` if it refuses.
 */
export interface AgentPages {
  /** The page of a call. Undefined if there is none, or if the agent does not show that server's pages. */
  read(viewer: PageViewer, page: Pick<CallPage, 'server' | 'uri'>): Promise<ServerPage | undefined>;
  /**
   * The tool that the server's page may call by that name. Undefined if there is none. The server is told how the person can be
   * asked.
   */
  find(
    viewer: PageViewer & Askable,
    page: Pick<CallPage, 'server'>,
    tool: string,
  ): Promise<ServerTool | undefined>;
}

const TIMEOUT_MS = 30_000;
const HTML_MAX = 2_000_000;
const SOURCES_MAX = 50;
// An origin, whose first label may be a wildcard. Characters that end a directive and bare schemes do not match.
const SOURCE =
  /^(?:(?:https|wss):\/\/(?:\*\.)?[a-z0-9.-]{1,253}|(?:https?|wss?):\/\/(?:localhost|127\.0\.0\.1))(?::\d{1,5})?\/?$/i;

export function createAgentPages({
  config,
  named,
}: {
  readonly config: AgentsConfig;
  readonly named: Pick<NamedTools, 'list' | 'read'>;
}): AgentPages {
  const sourceOf = ({ agent }: PageViewer, id: string) =>
    config.agents[agent]?.tools.find(({ server, pages }) => pages && server === id);
  const readerOf = ({ tenant, userId }: PageViewer) => ({ tenant, userId, viewer: 'host' }) as const;

  return {
    async read(viewer, { server, uri }) {
      if (sourceOf(viewer, server) === undefined) return undefined;
      const { signal } = viewer;
      const reply = await named.read(
        server,
        readerOf(viewer),
        // A read without an asker has no rounds.
        (ref) =>
          ref.read('resources/read', { uri }, { signal, timeoutMs: TIMEOUT_MS }) as Promise<McpReadResult>,
        signal,
      );
      const { contents } = resultOf(reply) ?? {};
      return Array.isArray(contents) ? contents.map((one) => readPage(one, uri)).find(Boolean) : undefined;
    },
    async find(viewer, { server }, name) {
      const source = sourceOf(viewer, server);
      if (source === undefined) return undefined;
      const { reach, client, signal } = viewer;
      const { tools, hasFailed } = await named.list(server, { ...readerOf(viewer), reach, client }, signal);
      if (hasFailed) throw serverUnavailable();
      const isCallable = (tool: McpTool) =>
        tool.name === name && tool.visibility.app && source.allow?.includes(name) !== false;
      return tools.some(isCallable) ? { server, tool: name, agent: viewer.agent } : undefined;
    },
  };
}

function readPage(content: unknown, uri: string): ServerPage | undefined {
  if (!isRecord(content) || content.uri !== uri || !isPageType(content.mimeType)) return undefined;
  const { text, blob } = content;
  const html = typeof blob === 'string' ? Buffer.from(blob, 'base64').toString() : text;
  if (typeof html !== 'string' || html.length > HTML_MAX) return undefined;
  const ui = isRecord(content._meta) && isRecord(content._meta.ui) ? content._meta.ui : {};
  const [csp, permissions] = [ui.csp, ui.permissions].map((one) => (isRecord(one) ? one : {}));
  return {
    html,
    csp: {
      connectDomains: sourcesIn(csp?.connectDomains),
      resourceDomains: sourcesIn(csp?.resourceDomains),
      frameDomains: sourcesIn(csp?.frameDomains),
      baseUriDomains: sourcesIn(csp?.baseUriDomains),
    },
    permissions: PERMISSIONS.filter((name) => isRecord(permissions?.[name])),
    ...(typeof ui.prefersBorder === 'boolean' && { prefersBorder: ui.prefersBorder }),
  };
}

function isPageType(type: unknown): boolean {
  return typeof type === 'string' && type.replaceAll(/\s/g, '').toLowerCase() === PAGE_TYPE;
}

/** Values that are not origins are removed, which can only reduce what the page may load. */
function sourcesIn(given: unknown): string[] {
  if (!Array.isArray(given)) return [];
  return given
    .filter((one): one is string => typeof one === 'string' && SOURCE.test(one))
    .slice(0, SOURCES_MAX);
}

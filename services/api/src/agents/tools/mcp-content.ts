/**
 * Offers the prompts and resources of servers to MCP clients of Parley. The protocol towards these clients is in
 * `surfaces/mcp`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import { visible } from '@parley/core/domain/visible';
import type { Caller } from '@parley/shared/domain/caller';
import { admits } from '../config/access.ts';
import type { AgentsConfig } from '../config/file.ts';
import { createScoping, namesPage, readAddress, serverNamed } from '../mcp/calls/addresses.ts';
import type { McpServerRef } from '../mcp/calls/mcp-tools.ts';
import type { ReadMethod } from '../mcp/calls/read-request.ts';
import { modelToolName } from '../mcp/calls/tool-name.ts';
import type { McpReadResult } from '../mcp/results.ts';
import type { Viewer } from '../mcp/visibility.ts';
import type { ServerRead } from '../run/one-call.ts';
import type { NamedTools } from './named-tools.ts';
import { createContentLists, KEYS, type ListMethod } from './passthrough/content-lists.ts';
import { refuse, resultOf, serverUnavailable } from './passthrough/content-replies.ts';
import type { Askable } from './passthrough/person.ts';
import { FOREVER, type HeldWatch } from './passthrough/resource-watches.ts';
import { type AsksDuringRead, readUnlessAsked, scopedReply } from './passthrough/server-read.ts';

type Item = Readonly<Record<string, unknown>>;

/** The person who reads, and the end of the read. */
interface ContentReader {
  readonly caller: Caller;
  readonly principal: Owner;
  readonly signal: AbortSignal;
  /** How the person can be asked. Absent: the server is told that nobody can be asked. */
  readonly askable?: Askable | undefined;
  /** `host`: the server is told that its pages are shown. @default 'model' */
  readonly viewer?: Viewer | undefined;
}

/** A client's read request, in the client's own names. */
type ReadRequest =
  | { readonly method: 'prompts/get'; readonly name: string; readonly arguments?: unknown }
  | { readonly method: 'resources/read'; readonly uri: string };

/** A read request to the server that has the item. */
interface FoundRead extends ServerRead {
  /** The parameters in the server's own names. */
  readonly params: Item;
  /** True if the client's name for the item contains the server. */
  readonly isScoped: boolean;
}

/** The result of a read. `asks`: the server asks the person first, so a run makes the request again. */
type ContentReply =
  | { readonly type: 'read'; readonly result: Item }
  | ({ readonly type: 'asks' } & FoundRead);

/** The item to complete, in the client's own names. */
type CompletionRef =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/**
 * The prompts and resources of servers that the configuration offers, as the servers return them. The addresses of resources
 * contain their server's id. A server's own address is accepted too, if only one server has it.
 *
 * Nobody is asked for an account: without one, a server has no items. `undefined`: the caller is offered no such prompt or
 * resource. All methods except the lists throw `unavailable`, and `invalid_request` if the server refuses, with a
 * `RefusedByServer` as the cause.
 */
export interface ServerContent {
  /** True if the configuration offers any. */
  readonly offers: Readonly<Record<'prompts' | 'resources', boolean>>;
  /** The lists omit servers that cannot be reached. */
  listPrompts(reader: ContentReader): Promise<readonly Item[]>;
  listResources(reader: ContentReader): Promise<readonly Item[]>;
  listTemplates(reader: ContentReader): Promise<readonly Item[]>;
  read(reader: ContentReader, request: ReadRequest): Promise<ContentReply | undefined>;
  /** Finds the server that has the requested item, as `read` does. */
  findRead(reader: ContentReader, request: ReadRequest): Promise<FoundRead | undefined>;
  /**
   * Watches a resource until it is released, as `ResourceWatches.hold` does. The resource is found as in `read`. Also throws if
   * the server reports no changes.
   */
  watch(reader: ContentReader, uri: string, listener: () => void): Promise<HeldWatch | undefined>;
  complete(reader: ContentReader, ref: CompletionRef, params: Item): Promise<Item | undefined>;
}

interface ServerContentDeps {
  readonly config: AgentsConfig;
  readonly named: Pick<NamedTools, 'list' | 'read' | 'watch'>;
}

type OfferedServer = AgentsConfig['mcpOffer']['tools'][number];

/** A resource with its server's own address. `isScoped`: the reader's address contained the server. */
interface FoundResource {
  readonly source: OfferedServer;
  readonly uri: string;
  readonly isScoped: boolean;
}

const TIMEOUT_MS = 30_000;

export function createMcpContent({ config, named }: ServerContentDeps): ServerContent {
  const { tools: sources } = config.mcpOffer;

  const sourcesFor = (kind: 'prompts' | 'resources', { caller }: ContentReader) =>
    sources.filter(
      (source) => source[kind] && (source.access === undefined || admits(source.access, caller)),
    );

  function send(
    { server }: Pick<OfferedServer, 'server'>,
    { principal, viewer, signal }: Pick<ContentReader, 'principal' | 'viewer' | 'signal'>,
    method: ReadMethod,
    params: Item,
  ) {
    const options = { signal, timeoutMs: TIMEOUT_MS };
    // A read without an asker has no rounds.
    const read = (ref: McpServerRef) => ref.read(method, params, options) as Promise<McpReadResult>;
    return named.read(server, { ...principal, viewer }, read, signal);
  }

  const { itemsOf } = createContentLists(({ server, principal, viewer, method, params }) =>
    send({ server }, { principal, viewer, signal: FOREVER }, method, params),
  );

  async function listAll(found: readonly OfferedServer[], reader: ContentReader, method: ListMethod) {
    const key = KEYS[method];
    const lists = await Promise.all(
      found.map(async (source) =>
        ((await itemsOf(source, reader, method)) ?? []).map((item) => ({ source, item })),
      ),
    );
    const byKey = new Map<unknown, Item>();
    for (const { source, item } of lists.flat()) {
      const scoped = createScoping(source.server).item(item, key);
      const name = key === 'name' ? wireName(source, item) : scoped[key];
      if (typeof name === 'string' && !byKey.has(name))
        byKey.set(name, { ...scoped, ...shownName(item), [key]: name });
    }
    return [...byKey.values()];
  }

  /** Finds the server whose prompt has that name, and the server's own name for it. */
  async function findPrompt(reader: ContentReader, name: string) {
    for (const source of sourcesFor('prompts', reader)) {
      if (source.prefix) {
        const own = name.slice(source.server.length + 2);
        if (own !== '' && modelToolName(source.server, own) === name) return { source, name: own };
        if (!name.startsWith(modelToolName(source.server, 'x').slice(0, source.server.length))) continue;
      }
      const items = await itemsOf(source, reader, 'prompts/list');
      const found = items?.find((item) => wireName(source, item) === name);
      if (found !== undefined) return { source, name: String(found.name) };
      // The name may belong to this server, so another server must not be asked instead.
      if (items === undefined) throw serverUnavailable();
    }
    return undefined;
  }

  const isProject = ({ server }: OfferedServer) => config.mcpServers[server]?.credentialScope === 'project';

  /** True if a server lists the address or a template of it, or has a tool with that page. */
  async function lists(source: OfferedServer, reader: ContentReader, uri: string): Promise<boolean> {
    const [resources, templates] = await Promise.all([
      itemsOf(source, reader, 'resources/list'),
      itemsOf(source, reader, 'resources/templates/list'),
    ]);
    if (resources?.some((item) => item.uri === uri)) return true;
    if (templates?.some((item) => item.uriTemplate === uri || isBegun(item.uriTemplate, uri))) return true;
    // The address may belong to this server, so another server must not be asked instead.
    if (resources === undefined || templates === undefined) throw serverUnavailable();
    if (!uri.startsWith('ui:')) return false;
    const { principal, viewer, signal } = reader;
    const { tools } = await named.list(source.server, { ...principal, viewer }, signal);
    return tools.some(({ meta }) => namesPage(meta, uri));
  }

  /**
   * The server that an address names, or the only server that lists it. The project's credential may open more than the server
   * offers, so with such a credential only listed resources are read. Without one, a server may link to resources that it does
   * not list.
   */
  async function findResource(reader: ContentReader, address: string): Promise<FoundResource | undefined> {
    const sources = sourcesFor('resources', reader);
    const { server, uri } = readAddress(address);
    const source = serverNamed(sources, server);
    if (source !== undefined) {
      const mayRead = !isProject(source) || (await lists(source, reader, uri));
      return mayRead ? { source, uri, isScoped: true } : undefined;
    }
    const plain = { uri: address, isScoped: false };
    const [only] = sources.length === 1 ? sources : [];
    if (only !== undefined && !isProject(only)) return { ...plain, source: only };
    const listing = await Promise.all(sources.map((one) => lists(one, reader, address)));
    const [found, ...others] = sources.filter((_, at) => listing[at]);
    return found === undefined || others.length > 0 ? undefined : { ...plain, source: found };
  }

  async function findRead(reader: ContentReader, request: ReadRequest): Promise<FoundRead | undefined> {
    const { method: read } = request;
    if (request.method === 'resources/read') {
      const { uri } = request;
      const resource = await findResource(reader, uri);
      if (resource === undefined) return undefined;
      const { source, isScoped } = resource;
      return { server: source.server, read, params: { uri: resource.uri }, isScoped };
    }
    const found = await findPrompt(reader, request.name);
    const { arguments: args } = request;
    const params = { name: found?.name, ...(args !== undefined && { arguments: args }) };
    return found && { server: found.source.server, read, params, isScoped: true };
  }

  return {
    offers: {
      prompts: sources.some(({ prompts }) => prompts),
      resources: sources.some(({ resources }) => resources),
    },
    listPrompts: (reader) => listAll(sourcesFor('prompts', reader), reader, 'prompts/list'),
    listResources: (reader) => listAll(sourcesFor('resources', reader), reader, 'resources/list'),
    listTemplates: (reader) => listAll(sourcesFor('resources', reader), reader, 'resources/templates/list'),
    findRead,
    async read(reader, request) {
      const found = await findRead(reader, request);
      if (found === undefined) return undefined;
      const { server, read, params } = found;
      const { principal, viewer, signal, askable } = reader;
      const options = { signal, timeoutMs: TIMEOUT_MS };
      const reply: McpReadResult | AsksDuringRead | undefined = await named.read(
        server,
        { ...principal, ...askable, viewer },
        (ref) => readUnlessAsked(ref, read, params, options),
        signal,
      );
      if (reply?.type === 'asks') return { type: 'asks', ...found };
      const result = resultOf(reply && scopedReply(found, reply, found.isScoped));
      return result && { type: 'read', result };
    },
    async watch(reader, uri, listener) {
      const found = await findResource(reader, uri);
      if (found === undefined) return undefined;
      const { principal, signal } = reader;
      const held = await named.watch(
        { server: found.source.server, uri: found.uri },
        principal,
        listener,
        signal,
      );
      if (held.type === 'held') return held;
      if (held.type !== 'absent') return refuse(held);
      throw new ParleyError('invalid_request', 'The server of this resource does not report its changes.');
    },
    async complete(reader, ref, params) {
      const found = await (ref.type === 'ref/prompt'
        ? findPrompt(reader, ref.name)
        : findResource(reader, ref.uri));
      if (found === undefined) return undefined;
      const own = 'uri' in found ? { ...ref, uri: found.uri } : { ...ref, name: found.name };
      const reply = await send(found.source, reader, 'completion/complete', { ...params, ref: own });
      return reply?.type === 'absent' ? { completion: { values: [] } } : resultOf(reply);
    },
  };
}

function wireName({ server, prefix }: OfferedServer, { name }: Item): string | undefined {
  if (typeof name !== 'string') return undefined;
  return prefix ? modelToolName(server, name) : name;
}

/** The display name of a resource or template. */
function shownName({ name }: Item): Item {
  return typeof name === 'string' ? { name: visible(name) } : {};
}

/** True if the address starts with the text of the template before its first expression. */
function isBegun(template: unknown, uri: string): boolean {
  if (typeof template !== 'string') return false;
  const literal = template.split('{', 1)[0] ?? '';
  return literal !== '' && literal !== template && uri.startsWith(literal);
}

/** Tools of servers that MCP clients and pages call by name. What is offered is decided in `mcp-offer.ts`. */

import type { Owner } from '@parley/core/domain/ids';
import { isRecord } from '@parley/core/domain/plain-record';
import type { LoadedAgentsConfig } from '../config/load.ts';
import { createScoping } from '../mcp/calls/addresses.ts';
import type { McpServerRef, McpTools } from '../mcp/calls/mcp-tools.ts';
import { modelToolName } from '../mcp/calls/tool-name.ts';
import type { McpFailure, McpTool, McpToolList } from '../mcp/results.ts';
import type { McpServerConfig } from '../mcp/server-config.ts';
import type { AskedPerson } from '../mcp/target.ts';
import { FOR_ALL, isVisible } from '../mcp/visibility.ts';
import { type OneCall, oneCallTool, type ServerRead, type ServerTool } from '../run/one-call.ts';
import { failed, NO_SUCH_TOOL, type Tool, type ToolCall, type ToolOutcome } from '../run/tool.ts';
import { withApproval } from './approvals/gate.ts';
import { policyOf } from './approvals/policy.ts';
import type { Credentials } from './credentials.ts';
import {
  type Askable,
  askedPerson,
  type SendDeps,
  type ServerCallLimits,
  sendRules,
  type TurnPerson,
} from './passthrough/person.ts';
import { watchWhileConnected } from './passthrough/personal-watch.ts';
import {
  createResourceWatches,
  type HeldWatch,
  type NoWatch,
  type WatchedServer,
} from './passthrough/resource-watches.ts';
import { sendAnswering, sendCall } from './passthrough/send-call.ts';
import { ReadInput, readOutcomeOf, scopedReply } from './passthrough/server-read.ts';
import { createPersonalService, type PersonalService } from './personal-service.ts';
import { CONNECT, connectTool, notConnected } from './personal-tools.ts';
import { toolOf, wholeOutcomeOf } from './server-tools.ts';
import { serverOf } from './servers.ts';

/** Questions name this as the caller of the tool. */
const CALLER = 'Your MCP client';

/** The tools of a server for one person. */
interface NamedToolList {
  readonly tools: readonly McpTool[];
  /** False if the server was not asked or did not answer, so that it may have other tools. */
  readonly isKnown: boolean;
  /** True if the server did not answer. */
  readonly hasFailed: boolean;
}

/** The person for whom a server is read. With `reach`, the server is told how they can be asked. */
interface ServerReader extends Owner, Partial<Askable>, Pick<TurnPerson, 'viewer'> {}

/** Tools of servers that a caller other than a model calls by name. */
export interface NamedTools {
  /**
   * The tools that the server offers this person, including those that need questions which can be asked. Never asks the
   * person. Without the person's account, returns the announced tools, or one tool that asks them to connect.
   */
  list(server: string, reader: ServerReader, signal: AbortSignal): Promise<NamedToolList>;
  /** Reads from the server for this person; undefined without their account. Rejects only with the signal's reason. */
  read<Result extends { readonly type: string }>(
    server: string,
    reader: ServerReader,
    read: (server: McpServerRef) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result | undefined>;
  /** Watches a resource for this person, as `ResourceWatches.hold` does; `absent` without the person's account. */
  watch(
    resource: { readonly server: string; readonly uri: string },
    principal: Owner,
    listener: () => void,
    signal: AbortSignal,
  ): Promise<HeldWatch | NoWatch>;
  /**
   * The tool with that name, or the read, for a run that makes only this call. Its outcome is the server's complete result. A
   * tool that the server does not list is called too; the server then refuses it.
   */
  open(call: OneCall, limits: ServerCallLimits, person: TurnPerson, signal: AbortSignal): Promise<Tool>;
}

interface NamedToolsDeps extends SendDeps {
  readonly loaded: LoadedAgentsConfig;
  readonly mcp: McpTools;
  readonly credentials: Credentials;
  /** Called with the reason if a server lists no tools. */
  readonly onServerFailure: (serverId: string, failure: McpFailure) => void;
}

export function createNamedTools(deps: NamedToolsDeps): NamedTools {
  const { loaded, mcp, credentials, onServerFailure } = deps;
  const servers = new Map(
    Object.entries(loaded.config.mcpServers).map(([id, entry]) => [id, serverOf(loaded, id, entry)] as const),
  );

  const watches = createResourceWatches();

  function find(id: string) {
    const server = servers.get(id);
    if (server === undefined) throw new Error(`The server ${id} is not configured.`);
    return server;
  }

  /** The server's configuration. The server is told about pages if the reader's client shows them. */
  function configFor(id: string, { viewer }: Pick<ServerReader, 'viewer'>): McpServerConfig {
    const { config } = find(id);
    return viewer === 'host' ? { ...config, showsPages: true } : config;
  }

  function serviceOf(
    id: string,
    person: ServerReader,
    questionTimeoutSeconds: number,
    asked?: AskedPerson,
  ): PersonalService | undefined {
    const { personal } = find(id);
    if (personal === undefined) return undefined;
    const { tenant, userId } = person;
    const config = configFor(id, person);
    const { connectorId, credentialType } = personal;
    const ref = { tenant, userId, toolId: id, connectorId };
    return createPersonalService({
      title: config.title,
      open: (credential) => mcp.open(config, credential, asked),
      ref,
      credentialType,
      credentials,
      agent: CALLER,
      questionTimeoutSeconds,
    });
  }

  /** Reads from a server. If the reader can be asked, the server is told how. */
  async function readFrom<Result extends { readonly type: string }>(
    id: string,
    reader: ServerReader,
    read: (server: McpServerRef) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result | undefined> {
    const { reach, client } = reader;
    const asked = reach && askedPerson(find(id), { ...reader, reach, client });
    const service = serviceOf(id, reader, 0, asked);
    return service === undefined
      ? read(mcp.open(configFor(id, reader), undefined, asked))
      : service.read(read, signal);
  }

  function toolsIn(list: McpToolList | undefined, id: string): readonly McpTool[] | undefined {
    if (list === undefined || list.type === 'tools') return list?.tools;
    onServerFailure(id, list);
    return undefined;
  }

  return {
    read: readFrom,
    watch({ server: id, uri }, { tenant, userId }, listener, signal) {
      const isPersonal = find(id).personal !== undefined;
      const key = JSON.stringify(isPersonal ? [id, tenant, userId] : [id]);
      const watch: WatchedServer['watch'] = (wanted, ending) => {
        const service = serviceOf(id, { tenant, userId }, 0);
        return service === undefined
          ? mcp.open(find(id).config).watch(wanted, ending)
          : watchWhileConnected(service, wanted, ending);
      };
      return watches.hold({ key, watch }, uri, listener, signal);
    },
    async list(id, reader, signal) {
      const list = await readFrom(id, reader, (server) => server.listTools({ signal }), signal);
      const tools = toolsIn(list, id);
      if (tools !== undefined) return { tools, isKnown: true, hasFailed: false };
      const { personal, config } = find(id);
      const hasFailed = list !== undefined;
      const isUnconnected = !hasFailed && personal?.announced.length === 0;
      const offered = isUnconnected ? [connectOffer(id, config.title)] : (personal?.announced ?? []);
      return { tools: offered, isKnown: false, hasFailed };
    },
    open: async (call, limits, person, signal) =>
      'read' in call ? openRead(call, limits, person) : openTool(call, limits, person, signal),
  };

  function openRead(call: ServerRead, limits: ServerCallLimits, person: TurnPerson): Tool {
    const { server: id, read } = call;
    const server = find(id);
    const config = configFor(id, person);
    const asked = askedPerson(server, person);
    const service = serviceOf(id, person, limits.questionTimeoutSeconds, asked);
    const rules = sendRules(server, person, limits, deps);
    const name = oneCallTool(call);
    return {
      name,
      title: config.title,
      description: '',
      inputSchema: { type: 'object' },
      isRepeatable: true,
      async call(made) {
        const { signal } = made;
        const { isScoped } = ReadInput.parse(made.input);
        const ask: ToolCall['ask'] = async (...question) => {
          // A read may be repeated. While it asks, any pod may take it over and finds the question.
          await made.notExecuted();
          return made.ask(...question);
        };
        const send = (opened: McpServerRef) =>
          sendAnswering({ ...made, ask }, opened, rules, async (options) =>
            opened.read(read, ReadInput.parse(await made.beforeDispatch()).params, {
              signal,
              timeoutMs: rules.timeoutMs,
              ...options,
            }),
          );
        const result =
          service === undefined
            ? await send(mcp.open(config, undefined, asked))
            : await service.call({ ...made, toolName: name }, send);
        if (result.type === 'not_connected') return notConnected(result);
        return readOutcomeOf(config.title, scopedReply(call, result, isScoped));
      },
    };
  }

  async function openTool(
    { server: id, tool: name, agent }: ServerTool,
    limits: ServerCallLimits,
    person: TurnPerson,
    signal: AbortSignal,
  ): Promise<Tool> {
    const server = find(id);
    const { personal } = server;
    const config = configFor(id, person);
    const asked = askedPerson(server, person);
    const service = serviceOf(id, person, limits.questionTimeoutSeconds, asked);
    const list = await readFrom(id, person, (one) => one.listTools({ signal }), signal);
    const listed = toolsIn(list, id) ?? personal?.announced ?? [];
    const known = listed.find((tool) => tool.name === name);
    if (service !== undefined && known === undefined && name === CONNECT) return connectTool(id, service);
    const target = known ?? unlisted(id, name);
    // This check comes first, so that the person is not asked for an account or an approval.
    if (!isVisible(target, person.viewer ?? 'model')) return toolOf(target, async () => failed(NO_SUCH_TOOL));
    const tool = toolOf(target, async (call) => {
      const rules = { ...sendRules(server, person, limits, deps), whole: true } as const;
      if (service === undefined) {
        const opened = mcp.open(config, undefined, asked);
        return scoped(id, wholeOutcomeOf(config.title, await sendCall(call, opened, name, rules)));
      }
      const result = await service.call({ ...call, toolName: target.modelName }, (opened) =>
        sendCall(call, opened, name, rules),
      );
      return result.type === 'not_connected'
        ? notConnected(result)
        : scoped(id, wholeOutcomeOf(config.title, result));
    });
    const entry = loaded.config.mcpServers[id];
    const policy = entry && policyOf(entry, loaded.config.agents[agent ?? ''], target);
    if (policy === undefined) return tool;
    const { questionTimeoutSeconds: timeoutSeconds } = limits;
    const at = { server: id, serverTitle: config.title };
    return withApproval(tool, { policy, ...at, source: target, timeoutSeconds, whole: true });
  }
}

/** Adds the server's id to the returned addresses, by which clients find the server again. */
function scoped(server: string, outcome: ToolOutcome): ToolOutcome {
  return outcome.type === 'returned' && isRecord(outcome.output)
    ? { ...outcome, output: createScoping(server).result(outcome.output) }
    : outcome;
}

/** The most cautious hints of the specification. */
const UNKNOWN_HINTS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

function unlisted(server: string, name: string): McpTool {
  const modelName = modelToolName(server, name);
  return {
    name,
    modelName,
    description: '',
    inputSchema: { type: 'object' },
    hints: UNKNOWN_HINTS,
    visibility: FOR_ALL,
  };
}

function connectOffer(server: string, title: string): McpTool {
  return {
    ...unlisted(server, CONNECT),
    title: `Connect ${title}`,
    description: `Asks you to connect your account at ${title}. Its tools are offered after that.`,
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  };
}

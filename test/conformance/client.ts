/**
 * The client under test of the conformance kit: lists a server's tools with Parley's own MCP client and calls each once, the
 * way a turn does. The person answers every form with its prefilled values, and connects accounts on the hosted pages.
 */
import { isRecord } from '@parley/core/domain/plain-record';
import { z } from 'zod';
import { createMcpTools } from '../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { withProjectAccess } from '../../services/api/src/agents/mcp/project-access.ts';
import type { McpToolList } from '../../services/api/src/agents/mcp/results.ts';
import type { McpHttpTransport, McpServerConfig } from '../../services/api/src/agents/mcp/server-config.ts';
import type { AgentQuestion, AskOutcome } from '../../services/api/src/agents/run/question.ts';
import type { ToolCall } from '../../services/api/src/agents/run/tool.ts';
import { sendCall } from '../../services/api/src/agents/tools/passthrough/send-call.ts';
import { createPersonalService } from '../../services/api/src/agents/tools/personal-service.ts';
import { connectorIdOf, createAccount } from './account.ts';
import { type KitPages, PERSON } from './pages.ts';
import { createProjectAccount, issuerOf } from './project-account.ts';

const Context = z.object({
  issuer: z.string().optional(),
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  private_key_pem: z.string().optional(),
  signing_algorithm: z.string().optional(),
  valid_jwt: z.string().optional(),
  idp_client_id: z.string().optional(),
  idp_id_token: z.string().optional(),
  idp_issuer: z.string().optional(),
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })).optional(),
});

type McpTools = ReturnType<typeof createMcpTools>;
type KitServer = McpServerConfig & { readonly transport: McpHttpTransport };

/** What the kit gives to a client that it starts. */
export interface Given {
  /** The server that the scenario is about. */
  readonly url: string;
  readonly scenario: string;
  /** What the scenario tells the client beforehand, as JSON. */
  readonly context: string;
  /** The revision that the scenario is about. */
  readonly version: string;
}

/** Calls the server's tools; resolves with the types of the results. Rejects where there is none to call. `id` names the server. */
export async function callTools(pages: KitPages, id: string, given: Given): Promise<string[]> {
  const { url, scenario, context, version } = given;
  const mcp = createMcpTools({ clientInfo: { name: 'parley', version: '0.1.0' } });
  const known = Context.parse(JSON.parse(context));
  const config = configOf(id, url, version);
  return callAs(pages, scenario, mcp, config, known)
    .then((all) => all.map(({ type }) => type))
    .finally(() => mcp.close());
}

type Known = z.infer<typeof Context>;

const asked = { person: 'ada', modes: { form: true, url: true } };
const rules = {
  viewer: 'model',
  timeoutMs: 20_000,
  taskMs: 20_000,
  questionsMax: 20,
  questionTimeoutSeconds: 60,
} as const;

/** As with `protocol: 2026-07-28` in the configuration: two scenarios of the kit count the question for an older one as a fault. */
function configOf(id: string, url: string, version: string): KitServer {
  const revision = version === '2026-07-28' ? version : undefined;
  return { id, title: 'Kit', transport: { type: 'http', url }, revision };
}

/** Scenarios in which no person is asked. */
const OF_PROJECT = /^auth\/(client-credentials|wif)-/;

async function callAs(pages: KitPages, scenario: string, mcp: McpTools, config: KitServer, known: Known) {
  if (OF_PROJECT.test(scenario)) {
    const project = await createProjectAccount(pages, config.transport.url, known);
    return callPlainly(withProjectAccess(mcp, project), config, known);
  }
  return scenario.startsWith('auth/')
    ? callWithAccount(pages, mcp, config, known)
    : callPlainly(mcp, config, known);
}

/** As the calls of an agent to a server without a credential of the person. */
async function callPlainly(mcp: McpTools, config: KitServer, known: Known) {
  const server = mcp.open(config, undefined, asked);
  const calls = callsOf(await server.listTools(), known);
  return Promise.all(
    calls.map(({ name, arguments: input }) => sendCall(callWith(name, input), server, name, rules)),
  );
}

/** As the calls to a server with `credentialScope: user` and a connector of type `mcp_oauth`. */
async function callWithAccount(pages: KitPages, mcp: McpTools, config: KitServer, known: Known) {
  const { issuer, client_id: clientId, client_secret: clientSecret } = known;
  const { id: toolId, transport } = config;
  const { url: serverUrl } = transport;
  const client = clientId === undefined ? undefined : { clientId, ...(clientSecret && { clientSecret }) };
  const signIn = signInOf(known);
  const at = issuer ?? (signIn && (await issuerOf(serverUrl)));
  const registered = at !== undefined && client !== undefined ? { issuer: at, client } : undefined;
  const service = createPersonalService({
    title: config.title,
    open: (credential) => mcp.open(config, credential, asked),
    ref: { ...PERSON, toolId, connectorId: connectorIdOf(toolId) },
    credentialType: 'mcp_oauth',
    credentials: await createAccount(pages, { toolId, serverUrl, registered, signIn }),
    agent: 'Kit',
    questionTimeoutSeconds: 60,
  });
  const ask = async (question: AgentQuestion): Promise<AskOutcome> =>
    question.mode === 'url' && question.context?.trigger === 'credential_required'
      ? pages.consent(question)
      : accepted(question);
  const connect = { ...callWith('connect', {}, ask), toolName: 'connect' };
  const connected = await service.connect(connect);
  if (connected !== 'connected') throw new Error(connected.message);
  const list = await service.read((server) => server.listTools(), connect.signal);
  if (list === undefined) {
    // The server wants more scopes for its list of tools.
    const extended = await service.connect(connect);
    return [{ type: extended === 'connected' ? extended : extended.type }];
  }
  return Promise.all(
    callsOf(list, known).map(({ name, arguments: input }) => {
      const call = { ...callWith(name, input, ask), toolName: name };
      return service.call(call, (server) => sendCall(call, server, name, rules));
    }),
  );
}

/** The company sign-in that the scenario says has taken place. */
function signInOf({ idp_client_id: clientId, idp_id_token: idToken, idp_issuer: issuer }: Known) {
  if (clientId === undefined || idToken === undefined || issuer === undefined) return undefined;
  return { clientId, idToken, issuer };
}

/** The calls that the kit orders, or one of each tool. */
function callsOf(list: McpToolList, known: Known) {
  if (list.type !== 'tools') throw new Error(`no tools: ${JSON.stringify(list)}`);
  const calls =
    known.toolCalls ??
    list.tools.map(({ name, inputSchema }) => ({ name, arguments: valuesOf(inputSchema, exampleOf) }));
  const offered = new Set(list.tools.map(({ name }) => name));
  return calls.filter(({ name }) => offered.has(name));
}

/** One call of a run whose person accepts what they are asked. */
function callWith(
  name: string,
  input: unknown,
  ask: (question: AgentQuestion) => Promise<AskOutcome> = async (question) => accepted(question),
): ToolCall {
  return {
    toolCallId: name,
    callKey: `run ${name}`,
    input,
    reach: () => 'client',
    waiting: (wait) => wait(),
    work: () => () => undefined,
    holdMs: 0,
    rest: (_ms, pause) => pause(),
    isAttended: true,
    hops: 0,
    signal: new AbortController().signal,
    released: new AbortController().signal,
    ask: (_ordinal, question) => ask(question),
    delegate: async () => ({ type: 'failed', message: 'There are no other agents.' }),
    beforeDispatch: async () => input,
    notExecuted: async () => undefined,
    approve: async ({ args }) => ({ type: 'granted', input: args, isEdited: false }),
    round: () => undefined,
    saveRound: async () => undefined,
    appendEvent: async () => undefined,
  };
}

function accepted({ requestedSchema }: AgentQuestion): AskOutcome {
  const content = valuesOf(requestedSchema ?? {}, (field) => field.default ?? exampleOf(field));
  return { elicitationId: 'el_kit', status: 'accepted', content, text: 'accepted' };
}

function valuesOf(
  { properties }: Readonly<Record<string, unknown>>,
  pick: (field: Record<string, unknown>) => unknown,
): Record<string, unknown> {
  if (!isRecord(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, isRecord(field) ? pick(field) : null]),
  );
}

function exampleOf({ type }: Record<string, unknown>): unknown {
  if (type === 'number' || type === 'integer') return 1;
  return type === 'boolean' ? true : 'example';
}

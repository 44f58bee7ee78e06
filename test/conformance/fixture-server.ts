import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { listenOnFreePort } from '../harness/free-port.ts';
import { CONTENT_CAPABILITIES, PIXEL, registerFixtureContent } from './fixture-content.ts';
import { serveBothRevisions, serveNewRevision } from './fixture-revisions.ts';
import { createFixtureTasks, type FixtureTasks, TASKS_CAPABILITY } from './fixture-tasking.ts';
import { TASK_TOOLS } from './fixture-tasks.ts';

/**
 * The tools that the scenarios of the kit call, on a server of the official SDK. The pods offer them as a gateway. Their names,
 * texts and questions are those that the kit asks for.
 */

/**
 * How the server asks. `rounds`: by results alone, in 2026-07-28 and no other revision. `requests`: in both revisions; the
 * tools that 2025-11-25 has, too, send `elicitation/create`, for which 2026-07-28 has no way. `tasks`: as `rounds`, and calls of the
 * scenarios of tasks become tasks of the server.
 */
export type FixtureManner = 'rounds' | 'requests' | 'tasks';

type Schema = Readonly<Record<string, unknown>> & { readonly type: 'object' };
type Answer = CallToolResult | InputRequiredResult;

interface FixtureTool {
  readonly inputSchema?: Schema;
  readonly call: (
    args: Record<string, unknown>,
    context: ServerContext,
    call: FixtureCall,
  ) => Promise<Answer> | Answer;
}

interface FixtureCall {
  readonly manner: FixtureManner;
  /** What the client declared: with the request, or for its session. */
  readonly declared: ClientCapabilities;
}

const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const state = createRequestStateCodec<Record<string, unknown>>({ key: randomBytes(32) });

const says = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });
const resource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text },
});
const form = (properties: Record<string, unknown>, required: string[]) =>
  ({ type: 'object', properties, required }) as never;

/** A tool that asks with one form and tells what it got. */
function asking(
  message: (args: Record<string, unknown>) => string,
  schema: () => never,
  told: string,
): FixtureTool['call'] {
  return async (args, { mcpReq }, { manner }) => {
    const question = { message: message(args), requestedSchema: schema() };
    const response =
      manner === 'requests'
        ? await mcpReq.elicitInput(question)
        : (mcpReq.inputResponses?.question as { action?: string; content?: unknown } | undefined);
    if (response?.action === undefined)
      return inputRequired({ inputRequests: { question: inputRequired.elicit(question) } });
    return says(`${told}: action=${response.action}, content=${JSON.stringify(response.content ?? {})}`);
  };
}

const DEFAULTS = () =>
  form(
    {
      name: { type: 'string', description: 'User name', default: 'John Doe' },
      age: { type: 'integer', description: 'User age', default: 30 },
      score: { type: 'number', description: 'User score', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', description: 'Verification status', default: true },
    },
    [],
  );

const titled = (...titles: string[]) => titles.map((title, at) => ({ const: `value${at + 1}`, title }));
const ENUMS = () =>
  form(
    {
      untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: {
        type: 'array',
        minItems: 1,
        maxItems: 3,
        items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
      },
      titledMulti: {
        type: 'array',
        minItems: 1,
        maxItems: 3,
        items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') },
      },
    },
    [],
  );

const NAME = () => form({ name: { type: 'string' } }, ['name']);
const CONFIRM = () => form({ ok: { type: 'boolean' } }, ['ok']);

const nameRequest = () => inputRequired.elicit({ message: 'What is your name?', requestedSchema: NAME() });
const askName = () => inputRequired({ inputRequests: { user_name: nameRequest() } });

const sampling = (text: string, maxTokens = 100) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text } }],
    maxTokens,
  });

/** A tool that asks in one round and tells what it got. */
const askingFor =
  (inputRequests: (args: Record<string, unknown>) => Parameters<typeof inputRequired>[0]['inputRequests']) =>
  (args: Record<string, unknown>, { mcpReq }: ServerContext): Answer =>
    mcpReq.inputResponses === undefined
      ? inputRequired({ inputRequests: inputRequests(args) ?? {} })
      : says(`Client response: ${JSON.stringify(mcpReq.inputResponses)}`);

async function askWithState(key: string, message: string, schema: never, payload: Record<string, unknown>) {
  const requestState = await state.mint({ ...payload, nonce: randomBytes(8).toString('hex') });
  return inputRequired({
    inputRequests: { [key]: inputRequired.elicit({ message, requestedSchema: schema }) },
    requestState,
  });
}

/** A tool that asks with a state of its own, and then returns the text. */
const confirming =
  (text: string): FixtureTool['call'] =>
  async (_args, { mcpReq }) => {
    const isConfirmed = acceptedContent(mcpReq.inputResponses, 'confirm') !== undefined;
    if (isConfirmed && mcpReq.requestState() !== undefined) return says(text);
    return askWithState('confirm', 'Please confirm', CONFIRM(), { text });
  };

const CONTENT_TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: {
    call: () => says('This is a simple text response for testing.'),
  },
  test_image_content: {
    call: () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] }),
  },
  test_audio_content: {
    call: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    call: () => ({
      content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    call: () => ({ ...says('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_logging_tool: { call: () => says('done') },
  test_streaming_elicitation: { call: () => says('done') },
  test_reconnection: {
    call: async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      return says('Reconnection test completed successfully.');
    },
  },
  json_schema_2020_12_tool: {
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: the name of a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    call: (args) => says(JSON.stringify(args)),
  },
};

const NOTIFYING_TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_tool_with_progress: {
    async call(_args, { mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
        const params = {
          progressToken: progressToken ?? '',
          progress,
          total: 100,
          message: `${progress} of 100`,
        };
        await mcpReq.notify({ method: 'notifications/progress', params });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return says(String(progressToken ?? 'no-progress-token'));
    },
  },
  test_tool_with_logging: {
    async call(_args, { mcpReq }) {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return says('Tool with logging executed successfully');
    },
  },
};

const ASKING_TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_elicitation: {
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    call: asking(
      ({ message }) => String(message),
      () =>
        form(
          {
            username: { type: 'string', description: "User's response" },
            email: { type: 'string', description: "User's email address" },
          },
          ['username', 'email'],
        ),
      'User response',
    ),
  },
  test_elicitation_sep1034_defaults: {
    call: asking(
      () => 'Please review and update the form fields with defaults',
      DEFAULTS,
      'Elicitation completed',
    ),
  },
  test_elicitation_sep1330_enums: {
    call: asking(() => 'Please select options from the enum fields', ENUMS, 'Elicitation completed'),
  },
  test_input_required_result_elicitation: {
    call(_args, { mcpReq }) {
      const name = acceptedContent<{ name: string }>(mcpReq.inputResponses, 'user_name')?.name;
      return typeof name === 'string' ? says(`Hello, ${name}!`) : askName();
    },
  },
  test_input_required_result_capabilities: {
    call: (args, context, { declared }) =>
      askingFor(() => ({
        ...(declared.elicitation !== undefined && { user_name: nameRequest() }),
        ...(declared.sampling !== undefined && { greeting: sampling('Generate a greeting') }),
      }))(args, context),
  },
  test_sampling: {
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    call: askingFor(({ prompt }) => ({ sample: sampling(String(prompt)) })),
  },
  test_input_required_result_sampling: {
    call: askingFor(() => ({ capital_question: sampling('What is the capital of France?') })),
  },
  test_input_required_result_list_roots: {
    call: askingFor(() => ({ client_roots: inputRequired.listRoots() })),
  },
  test_input_required_result_multiple_inputs: {
    async call(_args, { mcpReq }) {
      if (mcpReq.inputResponses !== undefined && mcpReq.requestState() !== undefined)
        return says(`Client response: ${JSON.stringify(mcpReq.inputResponses)}`);
      return inputRequired({
        inputRequests: {
          user_name: nameRequest(),
          greeting: sampling('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await state.mint({ round: 1 }),
      });
    },
  },
  test_missing_capability: {
    call(_args, _context, { declared }) {
      if (declared.sampling !== undefined) return says('declared');
      throw new ProtocolError(ProtocolErrorCode.MissingRequiredClientCapability, 'Sampling is required.', {
        requiredCapabilities: { sampling: {} },
      });
    },
  },
  test_input_required_result_request_state: { call: confirming('state-ok: confirmed') },
  test_input_required_result_tampered_state: { call: confirming('integrity-ok') },
  test_input_required_result_multi_round: {
    async call(_args, { mcpReq }) {
      const known = mcpReq.requestState<{ round?: number; name?: string }>();
      if (known?.round === undefined)
        return askWithState('step1', 'Step 1: What is your name?', NAME(), { round: 1 });
      const answer = <T extends Record<string, unknown>>(key: string) =>
        acceptedContent<T>(mcpReq.inputResponses, key);
      if (known.round === 1) {
        const { name } = answer<{ name: string }>('step1') ?? { name: 'unknown' };
        const colour = form({ color: { type: 'string' } }, ['color']);
        return askWithState('step2', 'Step 2: What is your favorite color?', colour, { round: 2, name });
      }
      const { color } = answer<{ color: string }>('step2') ?? { color: 'unknown' };
      return says(`Multi-round complete: ${known.name} likes ${color}`);
    },
  },
};

const TOOLS: Readonly<Record<string, FixtureTool>> = {
  ...CONTENT_TOOLS,
  ...NOTIFYING_TOOLS,
  ...ASKING_TOOLS,
  ...TASK_TOOLS,
};

function createFixture(manner: FixtureManner, tasks: FixtureTasks): Server {
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: {},
        logging: {},
        ...CONTENT_CAPABILITIES,
        ...(manner === 'tasks' && { extensions: TASKS_CAPABILITY }),
      },
      requestState: { verify: state.verify },
    },
  );
  registerFixtureContent(server);
  if (manner === 'tasks') tasks.register(server);
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(([name, { inputSchema = { type: 'object' } }]) => ({
      name,
      description: `The tool ${name}.`,
      inputSchema: inputSchema as { type: 'object' },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = TOOLS[params.name];
    if (tool === undefined) throw new Error(`There is no tool ${params.name}.`);
    const envelope: Readonly<Record<string, unknown>> = { ...context.mcpReq.envelope };
    const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
    const call = { manner, declared: (declared ?? {}) as ClientCapabilities };
    const callWith = (given: ServerContext) => tool.call(params.arguments ?? {}, given, call);
    if (manner === 'tasks' && params.name in TASK_TOOLS)
      return tasks.begin((inputResponses, signal) =>
        callWith({ ...context, mcpReq: { ...context.mcpReq, inputResponses, signal } } as ServerContext),
      );
    return (await callWith(context)) as CallToolResult;
  });
  return server;
}

/** Starts the server of the tools on 127.0.0.1. */
export async function startFixtureServer(
  manner: FixtureManner,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const tasks = createFixtureTasks();
  const create = () => createFixture(manner, tasks);
  const serve = toNodeHandler(manner === 'requests' ? serveBothRevisions(create) : serveNewRevision(create));
  const http = createServer((request, reply) => void serve(request as never, reply as never));
  const port = await listenOnFreePort(http);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

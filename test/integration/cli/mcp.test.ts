/** Every kind in a tool of an MCP server that asks through handlers: the official client answers over Streamable HTTP. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ElicitRequestSchema,
  type ElicitResult,
  ElicitResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createElicitor, createMcpHandler } from '@parley/sdk/elicit';
import { runWorkflow } from '@parley/sdk/workflow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caseOf, KINDS, SECRET } from '../../harness/cli/kinds.ts';
import { listenOnFreePort } from '../../harness/free-port.ts';
import { expectedOfTwenty, twenty } from './twenty.ts';

/** How the server sends a question: with the SDK's check of the answer, or as a plain request. */
const WAYS = ['elicitInput', 'a plain request'] as const;

const effects: string[] = [];

/** A server of one session: the tool `ask` asks for one kind, `twenty` runs the workflow. */
function createAskingServer(): Server {
  const server = new Server({ name: 'asks', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId, sendRequest }) => {
    const isPlain = params.arguments?.way === 'a plain request';
    const handler = createMcpHandler({
      elicit: (asked, options) =>
        isPlain
          ? sendRequest({ method: 'elicitation/create', params: asked as never }, ElicitResultSchema, options)
          : server.elicitInput(asked as never, { ...options, relatedRequestId: requestId }),
      capability: server.getClientCapabilities()?.elicitation,
    });
    const elicitor = createElicitor({ handlers: [handler] });
    const one = [...KINDS, { name: 'secret', ask: SECRET }].find(
      ({ name }) => name === params.arguments?.kind,
    );
    const result =
      one === undefined
        ? await runWorkflow(() => twenty((key) => effects.push(key)), { elicitor })
        : await elicitor.ask(one.ask);
    return { content: [{ type: 'text', text: JSON.stringify(result) }] };
  });
  return server;
}

const asked: string[] = [];
/** Messages whose question was answered wrongly already. */
const wronged = new Set<string>();
let withWrong = false;

const client = new Client(
  { name: 'person', version: '1' },
  { capabilities: { elicitation: { form: {}, url: {} } } },
);
client.setRequestHandler(ElicitRequestSchema, async ({ params: { message } }): Promise<ElicitResult> => {
  asked.push(message);
  const { ask, content, wrong } = caseOf(message);
  const isWrong = withWrong && wrong !== undefined && !wronged.has(ask.message);
  if (isWrong) wronged.add(ask.message);
  const sent = isWrong ? wrong.content : content;
  return { action: 'accept', ...(sent !== undefined && { content: sent as never }) };
});

async function callTool(name: string, args: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [part] = content as readonly { readonly text: string }[];
  return { text: part?.text ?? '', isError: isError === true };
}

const http = createServer();
beforeAll(async () => {
  const ours = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  http.on('request', (req, res) => void ours.handleRequest(req, res));
  const port = await listenOnFreePort(http);
  const theirs = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`));
  // The transports of this package do not fit its own interface under exactOptionalPropertyTypes.
  await createAskingServer().connect(ours as never);
  await client.connect(theirs as never);
});
afterAll(async () => {
  await client.close();
  http.closeAllConnections();
  http.close();
});

describe.each(WAYS)('the official MCP client, asked by %s,', (way) => {
  it.each(KINDS)('answers $name, a wrong input first', async (one) => {
    withWrong = true;
    wronged.clear();
    asked.length = 0;
    const { text } = await callTool('ask', { kind: one.name, way });
    const plain = JSON.parse(JSON.stringify({ value: one.value }));
    expect(JSON.parse(text)).toEqual({ status: 'accepted', ...plain, handler: 'mcp' });
    expect(asked).toHaveLength(one.wrong === undefined ? 1 : 2);
    // The SDK says in its own words what is wrong.
    const fault = way === 'elicitInput' ? /must|match/ : one.wrong?.fault;
    if (one.wrong !== undefined) expect(asked[1]).toMatch(fault as RegExp);
  });
});

it('the official MCP client is not asked for a secret, although it shows forms and pages', async () => {
  asked.length = 0;
  const { text, isError } = await callTool('ask', { kind: 'secret' }).catch((error: Error) => ({
    text: error.message,
    isError: true,
  }));
  expect(text).toContain('No handler could ask for a secret (mcp: cannot show it).');
  expect(isError).toBe(true);
  expect(asked).toEqual([]);
});

it('the workflow of twenty questions runs unchanged through the official MCP client', async () => {
  withWrong = false;
  asked.length = 0;
  const { text } = await callTool('twenty');
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(expectedOfTwenty())));
  expect(asked).toHaveLength(20);
  expect(effects).toHaveLength(4);
});

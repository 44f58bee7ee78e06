/**
 * The client under test of the conformance kit: lists a server's tools with Parley's own MCP client and calls each once, the
 * way a turn does. The kit gives the URL as the last argument. The person answers every form with its prefilled values.
 */
import { isRecord } from '@parley/shared/domain/plain-record';
import { z } from 'zod';
import { createMcpTools } from '../../services/api/src/agents/mcp/calls/mcp-tools.ts';
import { sendCall } from '../../services/api/src/agents/tools/passthrough/send-call.ts';
import type { AgentQuestion, AskOutcome } from '../../services/api/src/agents/tools/question.ts';
import type { ToolCall } from '../../services/api/src/agents/tools/tool.ts';

const Context = z.object({
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })).optional(),
});

const url = process.argv.at(-1) ?? '';
const context = Context.parse(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'));
const mcp = createMcpTools({ clientInfo: { name: 'parley', version: '0.1.0' } });
const server = mcp.open({ id: 'kit', title: 'Kit', transport: { type: 'http', url } }, undefined, {
  person: 'ada',
  modes: { form: true, url: true },
});

const list = await server.listTools();
if (list.type !== 'tools') throw new Error(`no tools: ${JSON.stringify(list)}`);
const calls =
  context.toolCalls ??
  list.tools.map(({ name, inputSchema }) => ({ name, arguments: valuesOf(inputSchema, exampleOf) }));
const offered = new Set(list.tools.map(({ name }) => name));
const results = await Promise.all(
  calls
    .filter(({ name }) => offered.has(name))
    .map(({ name, arguments: input }) =>
      sendCall(callWith(name, input), server, name, {
        timeoutMs: 20_000,
        questionsMax: 20,
        questionTimeoutSeconds: 60,
      }),
    ),
);
process.stdout.write(`${JSON.stringify(results.map(({ type }) => type))}\n`);
await mcp.close();

/** One call of a run whose person accepts what they are asked. */
function callWith(name: string, input: unknown): ToolCall {
  return {
    toolCallId: name,
    callKey: `run ${name}`,
    input,
    reach: () => 'client',
    waiting: (wait) => wait(),
    isAttended: true,
    signal: new AbortController().signal,
    ask: async (_ordinal, question) => accepted(question),
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

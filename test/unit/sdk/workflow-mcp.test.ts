/** The workflow of twenty questions in a tool of an MCP server, answered by the official client; and every kind there. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ElicitRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { createElicitor, createMcpHandler } from '@parley/sdk/elicit';
import {
  createMemoryRecord,
  NotAnsweredError,
  runWorkflow,
  StepFailedError,
  type WorkflowRequest,
} from '@parley/sdk/workflow';
import { expect, it, onTestFinished } from 'vitest';
import { caseOf } from '../../integration/cli/kinds.ts';
import { expectedOfTwenty, twenty } from '../../integration/cli/twenty.ts';

it('every kind is asked through the official MCP client, by the same workflow', async () => {
  const server = new Server({ name: 'asks', version: '1' }, { capabilities: { tools: {} } });
  const effects: string[] = [];
  server.setRequestHandler(CallToolRequestSchema, async () => {
    const handler = createMcpHandler({
      elicit: (params, options) => server.elicitInput(params as never, options),
      capability: server.getClientCapabilities()?.elicitation,
    });
    const elicitor = createElicitor({ handlers: [handler] });
    const answers = await runWorkflow(() => twenty((key) => effects.push(key)), { elicitor });
    return { content: [{ type: 'text', text: JSON.stringify(answers) }] };
  });
  const client = new Client(
    { name: 'person', version: '1' },
    { capabilities: { elicitation: { form: {}, url: {} } } },
  );
  const asked: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, async ({ params }): Promise<ElicitResult> => {
    asked.push(params.message);
    const { content } = caseOf(params.message);
    return { action: 'accept', ...(content !== undefined && { content: content as never }) };
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(ours), client.connect(theirs)]);
  onTestFinished(() => client.close());
  const { content } = await client.callTool({ name: 'twenty', arguments: {} });
  const [part] = content as readonly { readonly text: string }[];
  expect(JSON.parse(part?.text ?? '')).toEqual(JSON.parse(JSON.stringify(expectedOfTwenty())));
  expect(asked).toHaveLength(20);
  expect(effects).toHaveLength(4);
});

const declining = createElicitor({
  handlers: [{ name: 'no', canHandle: () => true, handle: async () => ({ action: 'decline' }) }],
});
const question = { kind: 'confirmation', message: 'm' } as const;

it('a workflow may catch a refusal, or ask for the outcome', async () => {
  const result = runWorkflow(
    function* (): Generator<WorkflowRequest, unknown, unknown> {
      const outcome = yield { ask: question, outcome: true };
      try {
        yield { ask: question };
      } catch (error) {
        return [outcome, error];
      }
      return undefined;
    },
    { elicitor: declining },
  );
  expect(await result).toEqual([{ status: 'declined', handler: 'no' }, expect.any(NotAnsweredError)]);
});

it('an asynchronous workflow is replayed with its results, a failed step included', async () => {
  const record = createMemoryRecord('w');
  let runs = 0;
  async function* program(): AsyncGenerator<WorkflowRequest, unknown, unknown> {
    const first = yield { step: 'first', run: async () => ++runs };
    try {
      yield {
        step: 'second',
        run: () => {
          runs += 1;
          throw new Error('no money');
        },
      };
    } catch (error) {
      return [first, error instanceof StepFailedError && error.message];
    }
    return undefined;
  }
  const expected = [1, 'The step second failed: no money'];
  expect(await runWorkflow(program, { elicitor: declining, record })).toEqual(expected);
  expect(await runWorkflow(program, { elicitor: declining, record })).toEqual(expected);
  expect(runs).toBe(2);
});

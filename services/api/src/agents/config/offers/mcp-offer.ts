import { z } from 'zod';
import { AgentAccess } from '../access.ts';
import { count, Id, prose, token } from '../words.ts';

const OfferedAgent = z.strictObject({
  agent: Id.describe('An entry of `agents`.'),
  description: prose(2_000, 'Purpose of the agent, for the client’s model.').optional(),
});

const OfferedTools = z.strictObject({
  server: Id.describe('An entry of `mcpServers`.'),
  allow: z
    .array(token(128, 'Name of a tool.'))
    .min(1, 'names no tool; leave the key out to offer all')
    .optional()
    .describe('Names of the tools that are offered. Absent: all tools of the server.'),
  prefix: z
    .boolean()
    .default(true)
    .describe(
      '`true`: a tool is offered as `<server>__<tool>`. `false`: under the server’s own name. Where several servers have `false`, each requires `allow`, and no name may occur twice.',
    ),
  prompts: z
    .boolean()
    .default(false)
    .describe(
      'Whether the prompts of the server are offered, with their completions. `prefix` applies to their names.',
    ),
  resources: z
    .boolean()
    .default(false)
    .describe(
      'Whether the resources and the templates of the server are offered, with the id of the server in their addresses (`ui://<server>~page`), and the pages of its tools (MCP Apps).',
    ),
  access: AgentAccess.optional().describe(
    'Who may call the tools, with the keys of the access of an agent. Absent: every caller.',
  ),
  limits: z
    .strictObject({
      toolTimeoutSeconds: count(60, 1, 3_600, 'How long one call may take. Waits for people do not count.'),
      questionTimeoutSeconds: count(600, 1, 604_800, 'How long a person has to answer.'),
      questionsPerCall: count(
        20,
        1,
        1_000,
        'How many questions the server may ask in one call. A call with more is ended.',
      ),
    })
    .prefault({})
    .describe('Limits that end a call.'),
});

/** What MCP clients of Parley are offered. */
export const McpOfferEntry = z
  .strictObject({
    agents: z
      .array(OfferedAgent)
      .optional()
      .describe('Agents that are offered, each as one tool. Absent: every agent, subject to its `access`.'),
    tools: z.array(OfferedTools).default([]).describe('Servers whose tools are offered.'),
  })
  .prefault({})
  .describe('What `/run/v1/mcp` offers to MCP clients.');
export type McpOfferEntry = z.infer<typeof McpOfferEntry>;

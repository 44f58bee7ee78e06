/** The schema of what Parley offers to MCP clients. Serving the offer is in `agents/tools/mcp-offer.ts`. */

import { z } from 'zod';
import { AgentAccess } from '../access.ts';
import { count, flag, Id, prose, token } from '../value-types.ts';

/** When a call becomes a task (MCP 2026-07-28). */
export const TASK_MODES = ['never', 'auto', 'always', 'required'] as const;

const TaskMode = z
  .enum(TASK_MODES)
  .describe(
    'When a call becomes a task for a client with the tasks extension. `never`: it is answered as for all others. `auto`: once it has lasted `taskAfterMs`. `always`: at once. `required`: as `auto`, and clients without the extension are refused.',
  );
const TaskAfterMs = count(
  [5_000, 0, 50_000],
  'How long a request waits for its call until its client gets a task instead, in ms. Questions that come earlier are asked as without tasks.',
);

/** An agent that is offered as a tool. */
export const OfferedAgent = z.strictObject({
  agent: Id.describe('An entry of `agents`.'),
  description: prose(2_000, 'Purpose of the agent, for the client’s model.').optional(),
  task: TaskMode.default('auto'),
  taskAfterMs: TaskAfterMs,
});

const OfferedTools = z.strictObject({
  server: Id.describe('An entry of `mcpServers`.'),
  allow: z
    .array(token(128, 'Name of a tool.'))
    .min(1, 'names no tool; leave the key out to offer all')
    .optional()
    .describe('Names of the tools that are offered. Absent: all tools of the server.'),
  prefix: flag(
    true,
    '`true`: a tool is offered as `<server>__<tool>`. `false`: under the server’s own name. Where several servers have `false`, each requires `allow`, and no name may occur twice.',
  ),
  prompts: flag(
    false,
    'Whether the prompts of the server are offered, with their completions. `prefix` applies to their names.',
  ),
  resources: flag(
    false,
    'Whether the resources and the templates of the server are offered, with the id of the server in their addresses (`ui://<server>~page`), and the pages of its tools (MCP Apps).',
  ),
  task: TaskMode.optional().describe(
    'As `task` of an agent. Absent: what the tool’s `execution.taskSupport` says (`forbidden`: `never`, `required`: `required`), or else `auto`.',
  ),
  taskAfterMs: TaskAfterMs,
  perTool: z
    .record(
      token(128, 'Name of a tool.'),
      z.strictObject({
        task: TaskMode.optional(),
        taskAfterMs: TaskAfterMs.unwrap().optional(),
      }),
    )
    .default({})
    .describe(
      '`task` and `taskAfterMs` of single tools, by the server’s own names. What is absent is as for the others.',
    ),
  access: AgentAccess.optional().describe(
    'Who may call the tools, with the keys of the access of an agent. Absent: every caller.',
  ),
  limits: z
    .strictObject({
      toolTimeoutSeconds: count([60, 1, 3_600], 'How long one call may take. Waits for people do not count.'),
      questionTimeoutSeconds: count([600, 1, 604_800], 'How long a person has to answer.'),
      questionsPerCall: count(
        [20, 1, 1_000],
        'How many questions the server may ask in one call. A call with more is ended.',
      ),
    })
    .prefault({})
    .describe('Limits that end a call.'),
});

/** Parley's offer to MCP clients. */
export const McpOfferEntry = z
  .strictObject({
    agents: z
      .array(OfferedAgent)
      .optional()
      .describe('Agents that are offered, each as one tool. Absent: every agent, subject to its `access`.'),
    tools: z.array(OfferedTools).default([]).describe('Servers whose tools are offered.'),
    apps: z
      .strictObject({
        approveIn: z
          .array(token(256, 'Id of an OAuth client, as the tokens of the issuer name it.'))
          .default([])
          .describe(
            'OAuth clients (`client_id` or `azp` of the token) in whose cards approvals are decided. Anybody who holds a token of such a client may decide, its model included. Absent: none.',
          ),
      })
      .prefault({})
      .describe('The card of a call in hosts that show MCP Apps.'),
  })
  .prefault({})
  .describe('What `/run/v1/mcp` offers to MCP clients.');
export type McpOfferEntry = z.infer<typeof McpOfferEntry>;

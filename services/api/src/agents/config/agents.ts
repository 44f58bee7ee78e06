import { NotifyRules } from '@parley/core/domain/notify';
import { z } from 'zod';
import { AgentAccess } from './access.ts';
import { ApprovalEntry } from './approval.ts';
import { count, flag, Id, prose, title, token } from './value-types.ts';

const ToolSource = z.strictObject({
  server: Id.describe('An entry of `mcpServers`.'),
  allow: z
    .array(token(128, 'Name of a tool.'))
    .min(1, 'names no tool; leave the key out to allow all')
    .optional()
    .describe('Names of the tools that the agent may call. Absent: all tools of the server.'),
  pages: flag(
    false,
    '`true`: chats show the pages of its tools (MCP Apps), where their client says that it can. A page may call the tools of the server that are for pages (docs/chat-transport.md).',
  ),
});

const Delegate = z.strictObject({
  agent: Id.describe('Another entry of `agents`, or an entry of `acpAgents`, `a2aAgents` or `agUiAgents`.'),
  description: prose(2_000, 'Purpose of the other agent, for the delegating model.'),
  skills: flag(
    false,
    '`true`, for an entry of `a2aAgents`: the skills of its card are tools of their own, `<agent>__<skill>`, in place of the one tool (docs/a2a.md).',
  ),
});

const AgentLimits = z
  .strictObject({
    steps: count([20, 1, 200], 'Model calls in one turn.'),
    tokens: count([200_000, 1, 100_000_000], 'Input and output tokens of all steps of one turn.'),
    turnTimeoutSeconds: count([600, 1, 86_400], 'How long a turn may work. Waits for people do not count.'),
    toolTimeoutSeconds: count(
      [60, 1, 3_600],
      'How long one tool call may take. Waits for people do not count.',
    ),
    questionTimeoutSeconds: count([600, 1, 604_800], 'How long a person has to answer.'),
    questionsPerCall: count(
      [20, 1, 1_000],
      'How many questions an MCP server may ask in one tool call. A call with more is ended.',
    ),
    samplesPerCall: count(
      [5, 1, 1_000],
      'How many texts the model may write for an MCP server in one tool call (`sampling`).',
    ),
    sampleTokens: count([2_000, 1, 1_000_000], 'Tokens that the model may write of one such text.'),
  })
  .prefault({})
  .describe('Limits that end a turn.');

/** An agent: a model, its instructions and its tools. */
export const Agent = z.strictObject({
  title: title('Name of the agent for people. The connect page shows it.'),
  model: Id.describe('An entry of `models`.'),
  instructions: prose(100_000, 'System instructions of the model.'),
  tools: z.array(ToolSource).default([]).describe('Servers whose tools the agent may call.'),
  delegates: z.array(Delegate).default([]).describe('Agents to which it may delegate tasks.'),
  elicit: flag(false, '`true`: the agent may ask the person questions, with the built-in tool `elicit`.'),
  notify: NotifyRules.optional().describe(
    'A channel that notifies the person of open questions and approvals (docs/slack.md).',
  ),
  approval: ApprovalEntry.optional().describe(
    'When a person must approve the calls of its tools. For servers without an `approval` of their own.',
  ),
  access: AgentAccess.optional(),
  limits: AgentLimits,
});

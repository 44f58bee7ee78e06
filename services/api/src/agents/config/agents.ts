import { z } from 'zod';
import { count, Id, prose, title, token } from './words.ts';

const ToolSource = z.strictObject({
  server: Id.describe('An entry of `mcpServers`.'),
  allow: z
    .array(token(128, 'Name of a tool.'))
    .min(1, 'names no tool; leave the key out to allow all')
    .optional()
    .describe('Names of the tools that the agent may call; absent: all that the server has.'),
});

const Delegate = z.strictObject({
  agent: Id.describe('Another entry of `agents`.'),
  description: prose(2_000, 'Tells the delegating model what the other agent is for.'),
});

const Limits = z
  .strictObject({
    steps: count(20, 1, 200, 'Calls of the model in one turn.'),
    tokens: count(200_000, 1, 100_000_000, 'Tokens of one turn, read and written, all steps together.'),
    turnTimeoutSeconds: count(600, 1, 86_400, 'How long a turn may work; waiting for people is not work.'),
    toolTimeoutSeconds: count(
      60,
      1,
      3_600,
      'How long one tool call may take; waiting for people is not counted.',
    ),
    questionTimeoutSeconds: count(600, 1, 604_800, 'How long a person has to answer.'),
  })
  .prefault({})
  .describe('What ends a turn that does not end by itself.');

/** Who talks with people: a model with instructions and what it may use. */
export const Agent = z.strictObject({
  title: title('What people know the agent as; the connect page names it.'),
  model: Id.describe('An entry of `models`.'),
  instructions: prose(100_000, 'What the model is told before the conversation.'),
  tools: z.array(ToolSource).default([]).describe('Whose tools the agent may call.'),
  delegates: z.array(Delegate).default([]).describe('Agents that it may hand a task to.'),
  elicit: z
    .boolean()
    .default(false)
    .describe('`true`: the agent may ask the person questions of its own, by the built-in tool `elicit`.'),
  limits: Limits,
});

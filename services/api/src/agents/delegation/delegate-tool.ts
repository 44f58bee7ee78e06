import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { NamedCall, Tool, ToolOutcome } from '../run/tool.ts';

const DelegateInput = z.strictObject({
  task: z.string().trim().min(1).describe('What to do, with all that is needed to know for it.'),
});

const INPUT_SCHEMA = {
  type: 'object',
  properties: { task: { type: 'string', description: DelegateInput.shape.task.description } },
  required: ['task'],
  additionalProperties: false,
} as const;

interface DelegateToolOptions {
  /** Id of the agent that does the task. */
  readonly agent: string;
  /** Display name of that agent. */
  readonly title: string;
  /** Purpose of the other agent, for the delegating model. */
  readonly description: string;
  /** Does the task. @default a run of the agent */
  readonly work?: (call: NamedCall, task: string) => Promise<ToolOutcome>;
}

interface TaskToolOptions {
  readonly name: string;
  readonly title: string;
  /** Display name of the agent that does the task. */
  readonly agentTitle: string;
  /** The purpose of the agent, for the delegating model. */
  readonly description: string;
  /** Does the task. */
  readonly work: (call: NamedCall, task: string) => Promise<ToolOutcome>;
}

/** The tool by which an agent delegates a task to another agent and gets its answer. */
export function createDelegateTool(options: DelegateToolOptions): Tool {
  const { agent, title, description, work } = options;
  const tool = createTaskTool({
    name: toolNameOf(agent),
    title: `Ask ${title}`,
    agentTitle: title,
    description,
    work: work ?? ((call, task) => call.delegate(agent, task)),
  });
  return work === undefined ? { ...tool, usesTokens: true } : tool;
}

/** A tool with one argument, the task of another agent. */
export function createTaskTool({ name, title, agentTitle, description, work }: TaskToolOptions): Tool {
  return {
    name,
    title,
    description: `Hands a task to the agent ${agentTitle}, which knows nothing of this conversation, and returns its answer. ${description}`,
    inputSchema: INPUT_SCHEMA,
    async call(call) {
      const input = DelegateInput.safeParse(call.input);
      if (input.success) return work({ ...call, toolName: name }, input.data.task);
      const faults = input.error.issues.map(
        ({ path, message }) => `${path.join('.') || 'input'}: ${message}`,
      );
      return { type: 'failed', message: `The task is not well formed. ${faults.join('; ')}` };
    },
  };
}

/**
 * A name that providers accept. It differs from those of other agents' tools, and of servers' tools, which contain
 * `__`.
 */
function toolNameOf(agent: string): string {
  const isPlain = /^[A-Za-z0-9-][A-Za-z0-9_-]{0,51}$/.test(agent);
  if (isPlain && !agent.includes('__') && !/_[0-9a-f]{8}$/.test(agent)) return `delegate_to_${agent}`;
  const mark = createHash('sha256').update(agent).digest('hex').slice(0, 8);
  const plain = agent.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, 40);
  return `delegate_to_${plain}_${mark}`;
}

import { callRemoteAgent, type RemoteCallDeps, readSkills } from '../a2a/call-agent.ts';
import { parseTaskCheckpoint } from '../a2a/checkpoint.ts';
import type { RemoteAgentTarget } from '../a2a/remote-agent.ts';
import type { RemoteSkill } from '../a2a/skills.ts';
import type { Agent } from '../config/file.ts';
import { modelToolName } from '../mcp/calls/tool-name.ts';
import { failed, NO_SUCH_TOOL, type Tool } from '../run/tool.ts';
import { createDelegateTool, createTaskTool } from './delegate-tool.ts';

interface RemoteToolsOptions extends Pick<Agent['delegates'][number], 'description' | 'skills'> {
  readonly agent: RemoteAgentTarget;
  readonly signal: AbortSignal;
  /** Names of tools that the current step has already called. If the plain tool is among them, it stays offered. */
  readonly called?: ReadonlySet<string>;
}

/**
 * The tools for delegating to a remote agent: one for each skill on its card. There is a single tool if skills are not
 * requested or none can be read.
 */
export async function remoteTools(
  deps: RemoteCallDeps,
  { agent, description, skills, signal, called }: RemoteToolsOptions,
): Promise<Tool[]> {
  const plain = createDelegateTool({
    agent: agent.id,
    title: agent.title,
    description,
    work: (call, task) => callRemoteAgent(deps, agent, call, { task }),
  });
  const known = skills ? await readSkills(deps, agent, signal) : [];
  const tools = known.map((skill) => skillTool(deps, agent, description, skill));
  return tools.length === 0 || called?.has(plain.name) === true ? [plain, ...tools] : tools;
}

function skillTool(
  deps: RemoteCallDeps,
  agent: RemoteAgentTarget,
  purpose: string,
  { id, name, toolName, description }: RemoteSkill,
): Tool {
  return createTaskTool({
    name: toolName,
    agentTitle: agent.title,
    title: `Ask ${agent.title}: ${name}`,
    description: `${purpose} It does the task by its skill ${name}. ${description}`,
    work: (call, task) => callRemoteAgent(deps, agent, call, { task, skill: { id, name } }),
  });
}

/**
 * Continues a call of a skill that is no longer offered, for example because the card has changed. The record of the call names
 * the skill.
 */
export function recordedSkillTool(
  deps: RemoteCallDeps,
  agents: readonly RemoteAgentTarget[],
  name: string,
): Tool {
  const given = { name, agentTitle: '', title: name, description: '' };
  const { inputSchema } = createTaskTool({ ...given, work: async () => failed('') });
  return {
    name,
    description: '',
    inputSchema,
    async call(call) {
      const skill = parseTaskCheckpoint(call.round() ?? '')?.skill;
      const agent = skill && agents.find(({ id }) => modelToolName(id, skill.id) === name);
      if (agent === undefined) return failed(NO_SUCH_TOOL);
      const tool = createTaskTool({
        ...given,
        work: (named, task) => callRemoteAgent(deps, agent, named, { task, skill }),
      });
      return tool.call(call);
    },
  };
}

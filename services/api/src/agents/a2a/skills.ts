import type { AgentCard } from '@a2a-js/sdk';
import { visible, visibleLabels } from '@parley/core/domain/visible';
import { z } from 'zod';
import { createToolOffer } from '../mcp/calls/tool-offer.ts';
import { DEFAULT_MCP_LIMITS } from '../mcp/limits.ts';
import type { Scrub } from '../mcp/scrub.ts';

/** Metadata key of a message that begins a task. The value is the id of the requested skill on the agent's card. */
export const SKILL_KEY = 'https://parley.dev/a2a/skill';

/** The reference to a skill in messages to its agent. */
export const SkillRef = z.object({ id: z.string(), name: z.string() });
export type SkillRef = z.infer<typeof SkillRef>;

/** A task, and the agent's skill that it uses. */
export interface GivenTask {
  readonly task: string;
  readonly skill?: SkillRef | undefined;
}

/** A skill of a card that can be offered to models as a tool. */
export interface RemoteSkill extends SkillRef {
  /** The name of its tool for models. */
  readonly toolName: string;
  /** The skill's description and examples, within the length limit for descriptions of tools. */
  readonly description: string;
}

const CardSkill = z.looseObject({
  id: z.string(),
  name: z.string().catch(''),
  description: z.string().catch(''),
  examples: z.array(z.string()).catch([]),
});

/** The usable skills of a card. They follow the rules for tools of MCP servers; skills that break these rules are omitted. */
export function skillsIn(
  { skills }: Pick<AgentCard, 'skills'>,
  agentId: string,
  scrub: Scrub,
): readonly RemoteSkill[] {
  const offer = createToolOffer({ ...DEFAULT_MCP_LIMITS, serverId: agentId, mirrorsParams: false });
  for (const raw of Array.isArray(skills) ? skills.slice(0, DEFAULT_MCP_LIMITS.toolsMax) : []) {
    const skill = CardSkill.safeParse(scrub.value(visibleLabels(raw)));
    if (skill.success) offer.add(listedSkill(skill.data));
  }
  return offer.done().tools.map(({ name: id, modelName: toolName, title = '', description }) => ({
    id,
    toolName,
    name: title === '' ? id : title.toWellFormed(),
    description: description.toWellFormed(),
  }));
}

function listedSkill({ id, name, description, examples }: z.infer<typeof CardSkill>) {
  const shown = examples.map((one) => `- ${lineOf(one)}`).join('\n');
  return {
    name: id,
    title: lineOf(visible(name)),
    description: shown === '' ? description : `${description}\nExamples:\n${shown}`.trim(),
    inputSchema: { type: 'object' },
  };
}

function lineOf(text: string): string {
  return text.replace(/\s+/gu, ' ').trim();
}

/** The text of the message that begins a task. It names the skill, for agents that do not read the metadata. */
export function taskText(task: string, skill: SkillRef | undefined): string {
  return skill === undefined ? task : `Use your skill ${skill.name} (${skill.id}).\n\n${task}`;
}

import type { Finding } from './fault.ts';
import type { AgentsFile } from './file.ts';

/**
 * Delegation that comes back to where it began, told once per circle at the reference that closes it. A circle could only
 * end at the cap on depth that a run keeps, after paying for every round; whoever wants one wants a loop in one agent.
 */
export function circlesIn({ agents }: Pick<AgentsFile, 'agents'>): Finding[] {
  const findings: Finding[] = [];
  const done = new Set<string>();
  const visit = (id: string, trail: readonly string[]): void => {
    if (done.has(id) || !Object.hasOwn(agents, id)) return;
    const here = [...trail, id];
    for (const [index, { agent }] of (agents[id]?.delegates ?? []).entries()) {
      const start = here.indexOf(agent);
      if (start < 0) visit(agent, here);
      else {
        const path = ['agents', id, 'delegates', index, 'agent'];
        findings.push({ path, message: sentenceOf([...here.slice(start), agent]) });
      }
    }
    done.add(id);
  };
  for (const id of Object.keys(agents)) visit(id, []);
  return findings;
}

function sentenceOf(circle: readonly string[]): string {
  return circle.length === 2
    ? 'is the agent itself; an agent goes on by itself without delegating'
    : `delegates in a circle: ${circle.join(' -> ')}`;
}

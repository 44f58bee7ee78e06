import type { Finding } from './fault.ts';
import type { AgentsFile } from './file.ts';

/**
 * Finds cycles of delegation, each reported once, at the reference that closes it. A cycle would run, and cost tokens,
 * until the limit on delegation depth.
 */
export function findDelegationCycles({ agents }: Pick<AgentsFile, 'agents'>): Finding[] {
  const findings: Finding[] = [];
  const done = new Set<string>();
  const visit = (id: string, ancestors: readonly string[]): void => {
    if (done.has(id) || !Object.hasOwn(agents, id)) return;
    const here = [...ancestors, id];
    for (const [index, { agent }] of (agents[id]?.delegates ?? []).entries()) {
      const start = here.indexOf(agent);
      if (start < 0) visit(agent, here);
      else {
        const path = ['agents', id, 'delegates', index, 'agent'];
        findings.push({ path, message: describeCycle([...here.slice(start), agent]) });
      }
    }
    done.add(id);
  };
  for (const id of Object.keys(agents)) visit(id, []);
  return findings;
}

function describeCycle(cycle: readonly string[]): string {
  return cycle.length === 2
    ? 'is the agent itself; an agent cannot delegate to itself'
    : `is part of a delegation cycle: ${cycle.join(' -> ')}`;
}

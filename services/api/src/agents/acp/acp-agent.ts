import type { LoadedAgentsConfig } from '../config/load.ts';
import type { Program } from '../mcp/transports/child-process.ts';

/** A configured ACP agent, with its secrets. It must never be logged. */
export interface AcpAgentTarget {
  readonly id: string;
  readonly title: string;
  readonly program: Program & { readonly cwd: string };
  /** False if Parley does not tell the agent that the person can be asked. */
  readonly mayAsk: boolean;
  readonly taskMs: number;
  readonly tasksMax: number;
}

/** The ACP agent of the configuration with this id; undefined where there is none. */
export function acpAgentOf(
  { config, secretOf }: Pick<LoadedAgentsConfig, 'config' | 'secretOf'>,
  id: string,
): AcpAgentTarget | undefined {
  const entry = config.acpAgents[id];
  if (entry === undefined) return undefined;
  const { title, command, args, cwd, elicitation: mayAsk, taskTimeoutSeconds, tasksMax } = entry;
  const env = Object.fromEntries(entry.env.map((name) => [name, secretOf(name)]));
  const program = { command, args, env, cwd };
  return { id, title, program, mayAsk, taskMs: taskTimeoutSeconds * 1_000, tasksMax };
}

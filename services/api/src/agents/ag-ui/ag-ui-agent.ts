import type { LoadedAgentsConfig } from '../config/load.ts';
import { type CalledAgent, calledAgentOf } from '../remote/called-agent.ts';

/** A configured AG-UI agent, with its secrets. It must never be logged. */
export interface AgUiAgentTarget extends CalledAgent {
  readonly url: string;
  /** True if posting a run again under the same id continues that run. */
  readonly isRepeatable: boolean;
  readonly threadBytesMax: number;
}

/** The AG-UI agent of the configuration with this id; undefined where there is none. */
export function agUiAgentOf(
  loaded: Pick<LoadedAgentsConfig, 'config' | 'secretOf'>,
  id: string,
): AgUiAgentTarget | undefined {
  const entry = loaded.config.agUiAgents[id];
  if (entry === undefined) return undefined;
  return {
    ...calledAgentOf(loaded, id, entry),
    url: entry.url,
    isRepeatable: entry.repeatable,
    threadBytesMax: entry.threadBytes,
  };
}

import { type CallingDeps, callForPerson } from '../remote/call.ts';
import type { NamedCall, ToolOutcome } from '../run/tool.ts';
import type { AgUiAgentTarget } from './ag-ui-agent.ts';
import { parseTaskState } from './checkpoint.ts';
import type { AgUiAgents } from './link.ts';
import { runAgUiTask } from './run-task.ts';

interface AgUiCallDeps extends CallingDeps {
  readonly agents: AgUiAgents;
}

/**
 * Gives a task to an AG-UI agent, with the project's credential or the person's own. Rejects only with the reason of the call's
 * signal.
 */
export async function callAgUiAgent(
  deps: AgUiCallDeps,
  agent: AgUiAgentTarget,
  call: NamedCall,
  task: string,
): Promise<ToolOutcome> {
  const { person, agents, rules } = deps;
  return callForPerson(deps, agent, call, {
    mayHaveBegun,
    work(credential) {
      const link = agents.open(agent, { userId: person.userId, credential });
      return runAgUiTask({ link, call, rules }, task);
    },
  });
}

/** True if a run of the task has ended at the agent, or may have begun. */
function mayHaveBegun(call: NamedCall): boolean {
  const recorded = call.round();
  if (recorded === undefined) return false;
  const state = parseTaskState(recorded);
  return state === undefined || state.isSending || state.run > 0;
}

import { isForTenant, personalServiceOf, type RemoteCallDeps } from '../a2a/call-agent.ts';
import { describeFault, describeUnfollowed, RemoteFault } from '../a2a/faults.ts';
import type { RemoteTaskResult } from '../a2a/task-run.ts';
import type { NamedCall } from '../delegation/delegate-tool.ts';
import { failed, type ToolOutcome } from '../tools/tool.ts';
import type { AgUiAgentTarget } from './ag-ui-agent.ts';
import { parseTaskState } from './checkpoint.ts';
import type { AgUiAgents } from './link.ts';
import { runAgUiTask } from './run-task.ts';

export interface AgUiCallDeps extends Omit<RemoteCallDeps, 'agents' | 'pushesOf'> {
  readonly agents: AgUiAgents;
}

/**
 * Has an AG-UI agent do a task with the project's credential, or with the person's own: they are asked to connect when
 * there is none. Rejects only with the reason of the call's signal.
 */
export async function callAgUiAgent(
  deps: AgUiCallDeps,
  agent: AgUiAgentTarget,
  call: NamedCall,
  task: string,
): Promise<ToolOutcome> {
  const { person, agents, rules } = deps;
  if (!isForTenant(agent, person))
    return failed(`${agent.title} cannot be called for users of this tenant. Nothing was done.`);
  const work = (credential: Readonly<Record<string, string>>): Promise<RemoteTaskResult> => {
    const link = agents.open(agent, { userId: person.userId, credential });
    return runAgUiTask({ link, call, rules }, task);
  };
  const service = personalServiceOf(deps, agent);
  const result = await (service === undefined ? work({}) : service.call<RemoteTaskResult>(call, work));
  switch (result.type) {
    case 'returned':
    case 'failed':
      return result;
    case 'not_connected':
      return failed(hasBegun(call) ? describeUnfollowed(agent.title) : result.message);
    default:
      return failed(
        hasBegun(call)
          ? describeUnfollowed(agent.title)
          : describeFault(agent.title, new RemoteFault('unauthorized')),
      );
  }
}

/** True where a run of the task has ended there, or may have been begun. */
function hasBegun(call: NamedCall): boolean {
  const recorded = call.round();
  if (recorded === undefined) return false;
  const state = parseTaskState(recorded);
  return state === undefined || state.isSending || state.run > 0;
}

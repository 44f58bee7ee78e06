import type { OwnedCall } from '@parley/shared/runs/resume';
import type { NamedCall } from '../delegation/delegate-tool.ts';
import type { ServiceRefusal } from '../tools/account-question.ts';
import type { Credentials } from '../tools/credentials.ts';
import type { TurnPerson } from '../tools/passthrough/person.ts';
import { createPersonalService } from '../tools/personal-service.ts';
import { failed, type ToolOutcome } from '../tools/tool.ts';
import { describeFault, describeUnfollowed, RemoteFault } from './faults.ts';
import { mayHaveBegun, openAgent } from './open-agent.ts';
import { createRemoteQuestions, type RemoteQuestions } from './questions.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';
import type { RemoteAgents } from './remote-agents.ts';
import { runRemoteTask } from './run-task.ts';
import type { CallPushes, RemoteTaskResult, RemoteTaskRules } from './task-run.ts';

export interface RemoteCallDeps {
  readonly agents: RemoteAgents;
  /** The accounts of people, for agents with `credentialScope: user`. */
  readonly credentials: Credentials;
  /** Title of the agent that delegates. */
  readonly asker: string;
  readonly person: TurnPerson;
  readonly rules: RemoteTaskRules;
  /** Absent where remote agents cannot push to this deployment. */
  readonly pushesOf?: PushesOf | undefined;
}

/** The pushes about one call. */
export type PushesOf = (call: OwnedCall) => CallPushes;

/**
 * Has a remote agent do a task with the project's credential, or with the person's own: they are asked to connect when
 * there is none. Rejects only with the reason of the call's signal.
 */
export async function callRemoteAgent(
  deps: RemoteCallDeps,
  agent: RemoteAgentTarget,
  call: NamedCall,
  task: string,
): Promise<ToolOutcome> {
  // The header names no tenant: the same id in two tenants would be one person there.
  if (agent.userHeader !== undefined && agent.userTenant !== deps.person.tenant)
    return failed(`${agent.title} cannot be called for users of this tenant. Nothing was done.`);
  const questions = createRemoteQuestions(call, { agent, ...deps.rules });
  try {
    for (;;) {
      const result = await attempt(deps, agent, questions, call, task);
      if (result.type === 'returned' || result.type === 'failed') return result;
      if (result.type === 'again') continue;
      if (mayHaveBegun(call)) return failed(describeUnfollowed(agent.title));
      const unauthorized = new RemoteFault('unauthorized');
      return failed(
        result.type === 'not_connected' ? result.message : describeFault(agent.title, unauthorized),
      );
    }
  } finally {
    questions.close();
  }
}

async function attempt(
  { agents, credentials, asker, person, rules, pushesOf }: RemoteCallDeps,
  agent: RemoteAgentTarget,
  questions: RemoteQuestions,
  call: NamedCall,
  task: string,
): Promise<RemoteTaskResult | ServiceRefusal> {
  const { tenant, userId } = person;
  const work = async (credential: Readonly<Record<string, string>>): Promise<RemoteTaskResult> => {
    const opened = await openAgent({ agents, agent, questions, call }, { userId, credential });
    if ('type' in opened) return opened;
    const pushes = pushesOf?.({ tenant, userId, callKey: call.callKey });
    return runRemoteTask({ link: opened, rules, questions, pushes, call }, task);
  };
  if (agent.personal === undefined) return work({});
  const { connectorId, credentialType } = agent.personal;
  const service = createPersonalService({
    title: agent.title,
    open: ({ headers }) => headers,
    ref: { tenant, userId, toolId: agent.id, connectorId },
    credentialType,
    credentials,
    agent: asker,
    questionTimeoutSeconds: rules.questionTimeoutSeconds,
  });
  return service.call<RemoteTaskResult>(call, work);
}

import { withTimeLimit } from '@parley/shared/async/time-limit';
import { type CallingDeps, callForPerson, isForTenant, personalServiceOf } from '../remote/call.ts';
import type { CalledFor } from '../remote/called-agent.ts';
import { RemoteFault } from '../remote/faults.ts';
import type { RemoteTaskResult } from '../remote/result.ts';
import type { NamedCall, ToolOutcome } from '../run/tool.ts';
import type { OwnedCall } from './follow/wake-call.ts';
import { mayHaveBegun, openAgent } from './open-agent.ts';
import { createRemoteQuestions } from './questions.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';
import type { RemoteAgents } from './remote-agents.ts';
import { runRemoteTask } from './run-task.ts';
import type { GivenTask, RemoteSkill } from './skills.ts';
import type { CallPushes } from './task-run.ts';

export interface RemoteCallDeps extends CallingDeps {
  readonly agents: RemoteAgents;
  /** Absent where remote agents cannot push to this deployment. */
  readonly pushesOf?: PushesOf | undefined;
}

/** Makes the push subscription of one call. */
export type PushesOf = (call: OwnedCall) => CallPushes;

/**
 * Gives a task to a remote agent, with the project's credential or the person's own. Rejects only with the reason of the call's
 * signal.
 */
export async function callRemoteAgent(
  deps: RemoteCallDeps,
  agent: RemoteAgentTarget,
  call: NamedCall,
  task: GivenTask,
): Promise<ToolOutcome> {
  const { agents, person, rules, pushesOf } = deps;
  const { tenant, userId } = person;
  const questions = createRemoteQuestions(call, { agent, ...rules });
  const work = async (credential: CalledFor['credential']): Promise<RemoteTaskResult> => {
    const opened = await openAgent({ agents, agent, questions, call }, { userId, credential });
    if ('type' in opened) return opened;
    const pushes = pushesOf?.({ tenant, userId, callKey: call.callKey });
    return runRemoteTask({ link: opened, rules, questions, pushes, call }, task);
  };
  try {
    return await callForPerson(deps, agent, call, { work, mayHaveBegun });
  } finally {
    questions.close();
  }
}

/** How long a step of the model waits for a card. A card that is read later serves the next step. */
const SKILLS_MS = 5_000;

/**
 * The skills on the agent's card, read with the project's credential or the person's own. Empty while the card cannot be read.
 * Never asks the person. Rejects only with the reason of the signal.
 */
export async function readSkills(
  deps: RemoteCallDeps,
  agent: RemoteAgentTarget,
  signal: AbortSignal,
): Promise<readonly RemoteSkill[]> {
  const { userId } = deps.person;
  if (!isForTenant(agent, deps.person)) return [];
  return withTimeLimit(SKILLS_MS, signal, async (over) => {
    const read = async (credential: CalledFor['credential']): Promise<SkillsResult> => {
      try {
        return { type: 'skills', skills: await deps.agents.skills(agent, { userId, credential }, over) };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RemoteFault)
          return error.kind === 'unauthorized'
            ? { type: error.kind, status: error.status }
            : { type: 'absent' };
        if (over.aborted) return { type: 'absent' };
        throw error;
      }
    };
    const service = personalServiceOf(deps, agent);
    const result = service === undefined ? await read({}) : await service.read(read, signal);
    return result?.type === 'skills' ? result.skills : [];
  });
}

type SkillsResult =
  | { readonly type: 'skills'; readonly skills: readonly RemoteSkill[] }
  | { readonly type: 'unauthorized'; readonly status: 401 | 403 }
  | { readonly type: 'absent' };

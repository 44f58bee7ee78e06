import { withTimeLimit } from '@parley/shared/elicitations/time-limit';
import type { NamedCall } from '../delegation/delegate-tool.ts';
import type { ServiceRefusal } from '../tools/account-question.ts';
import type { Credentials } from '../tools/credentials.ts';
import type { TurnPerson } from '../tools/passthrough/person.ts';
import { createPersonalService, type PersonalService } from '../tools/personal-service.ts';
import { failed, type ToolOutcome } from '../tools/tool.ts';
import { describeFault, describeUnfollowed, RemoteFault } from './faults.ts';
import type { OwnedCall } from './follow/wake-call.ts';
import { mayHaveBegun, openAgent } from './open-agent.ts';
import { createRemoteQuestions, type RemoteQuestions } from './questions.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';
import type { RemoteAgents } from './remote-agents.ts';
import { runRemoteTask } from './run-task.ts';
import type { GivenTask, RemoteSkill } from './skills.ts';
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
  task: GivenTask,
): Promise<ToolOutcome> {
  if (!isForTenant(agent, deps.person))
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

/** How long a step of the model waits for a card. A card that comes later is there for the next step. */
const SKILLS_MS = 5_000;

/**
 * The skills of the agent's card, read with the project's credential or with the person's own. None while the card cannot
 * be read. Never asks the person. Rejects only with the reason of the signal.
 */
export async function readSkills(
  deps: RemoteCallDeps,
  agent: RemoteAgentTarget,
  signal: AbortSignal,
): Promise<readonly RemoteSkill[]> {
  const { userId } = deps.person;
  if (!isForTenant(agent, deps.person)) return [];
  return withTimeLimit(SKILLS_MS, signal, async (over) => {
    const read = async (credential: Readonly<Record<string, string>>): Promise<SkillsResult> => {
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

/** The header names no tenant: the same id in two tenants would be one person there. */
export function isForTenant(
  { userHeader, userTenant }: Pick<RemoteAgentTarget, 'userHeader' | 'userTenant'>,
  { tenant }: TurnPerson,
): boolean {
  return userHeader === undefined || userTenant === tenant;
}

async function attempt(
  deps: RemoteCallDeps,
  agent: RemoteAgentTarget,
  questions: RemoteQuestions,
  call: NamedCall,
  task: GivenTask,
): Promise<RemoteTaskResult | ServiceRefusal> {
  const { agents, person, rules, pushesOf } = deps;
  const { tenant, userId } = person;
  const work = async (credential: Readonly<Record<string, string>>): Promise<RemoteTaskResult> => {
    const opened = await openAgent({ agents, agent, questions, call }, { userId, credential });
    if ('type' in opened) return opened;
    const pushes = pushesOf?.({ tenant, userId, callKey: call.callKey });
    return runRemoteTask({ link: opened, rules, questions, pushes, call }, task);
  };
  const service = personalServiceOf(deps, agent);
  return service === undefined ? work({}) : service.call<RemoteTaskResult>(call, work);
}

type Headers = Readonly<Record<string, string>>;

/** The person's account at the agent, which gives the headers of a call. Undefined for agents that need none. */
export function personalServiceOf(
  { credentials, asker, person: { tenant, userId }, rules }: Omit<RemoteCallDeps, 'agents' | 'pushesOf'>,
  agent: Pick<RemoteAgentTarget, 'id' | 'title' | 'personal'>,
): PersonalService<Headers> | undefined {
  if (agent.personal === undefined) return undefined;
  const { connectorId, credentialType } = agent.personal;
  return createPersonalService<Headers>({
    title: agent.title,
    open: ({ headers }) => headers,
    ref: { tenant, userId, toolId: agent.id, connectorId },
    credentialType,
    credentials,
    agent: asker,
    questionTimeoutSeconds: rules.questionTimeoutSeconds,
  });
}

import { failed, type NamedCall, type ToolOutcome } from '../run/tool.ts';
import type { ServiceRefusal } from '../tools/account-question.ts';
import type { Credentials } from '../tools/credentials.ts';
import type { TurnPerson } from '../tools/passthrough/person.ts';
import { createPersonalService, type PersonalService } from '../tools/personal-service.ts';
import type { CalledAgent, CalledFor } from './called-agent.ts';
import { describeFault, describeUnfollowed, RemoteFault } from './faults.ts';
import type { RemoteTaskResult, RemoteTaskRules } from './result.ts';

/** What calls of agents need, whichever protocol they speak. */
export interface CallingDeps {
  /** The accounts of people, for agents with `credentialScope: user`. */
  readonly credentials: Credentials;
  /** Title of the agent that delegates. */
  readonly asker: string;
  readonly person: TurnPerson;
  readonly rules: RemoteTaskRules;
}

type Headers = CalledFor['credential'];

/** How one protocol has a task done. */
interface TaskByCredential {
  work(credential: Headers): Promise<RemoteTaskResult>;
  /** True where the task is under way at the agent, or may be. */
  mayHaveBegun(call: NamedCall): boolean;
}

/**
 * Has an agent do a task with the project's credential, or with the person's own: they are asked to connect when there is
 * none. Rejects only with the reason of the call's signal.
 */
export async function callForPerson(
  deps: CallingDeps,
  agent: CalledAgent,
  call: NamedCall,
  { work, mayHaveBegun }: TaskByCredential,
): Promise<ToolOutcome> {
  const { title } = agent;
  if (!isForTenant(agent, deps.person))
    return failed(`${title} cannot be called for users of this tenant. Nothing was done.`);
  const service = personalServiceOf(deps, agent);
  for (;;) {
    const result: RemoteTaskResult | ServiceRefusal =
      service === undefined ? await work({}) : await service.call<RemoteTaskResult>(call, work);
    if (result.type === 'returned' || result.type === 'failed') return result;
    if (result.type === 'again') continue;
    if (mayHaveBegun(call)) return failed(describeUnfollowed(title));
    return failed(
      result.type === 'not_connected'
        ? result.message
        : describeFault(title, new RemoteFault('unauthorized')),
    );
  }
}

/** The header names no tenant: the same id in two tenants would be one person there. */
export function isForTenant(
  { userHeader, userTenant }: Pick<CalledAgent, 'userHeader' | 'userTenant'>,
  { tenant }: TurnPerson,
): boolean {
  return userHeader === undefined || userTenant === tenant;
}

/** The person's account at the agent, which gives the headers of a call. Undefined for agents that need none. */
export function personalServiceOf(
  { credentials, asker, person: { tenant, userId }, rules }: CallingDeps,
  { id, title, personal }: Pick<CalledAgent, 'id' | 'title' | 'personal'>,
): PersonalService<Headers> | undefined {
  if (personal === undefined) return undefined;
  const { connectorId, credentialType } = personal;
  return createPersonalService<Headers>({
    title,
    open: ({ headers }) => headers,
    ref: { tenant, userId, toolId: id, connectorId },
    credentialType,
    credentials,
    agent: asker,
    questionTimeoutSeconds: rules.questionTimeoutSeconds,
  });
}

import { failed, type NamedCall, type ToolOutcome } from '../run/tool.ts';
import type { ServiceRefusal } from '../tools/account-question.ts';
import type { Credentials } from '../tools/credentials.ts';
import type { TurnPerson } from '../tools/passthrough/person.ts';
import { createPersonalService, type PersonalService } from '../tools/personal-service.ts';
import type { CalledAgent, CalledFor } from './called-agent.ts';
import { describeFault, describeUnfollowed, RemoteFault } from './faults.ts';
import type { RemoteTaskResult, RemoteTaskRules } from './result.ts';

/** The dependencies of calls of remote agents, in every protocol. */
export interface CallingDeps {
  /** The accounts of people, for agents with `credentialScope: user`. */
  readonly credentials: Credentials;
  /** Title of the delegating agent. */
  readonly asker: string;
  readonly person: TurnPerson;
  readonly rules: RemoteTaskRules;
}

type Headers = CalledFor['credential'];

/** How one protocol gives a task to an agent. */
interface TaskByCredential {
  work(credential: Headers): Promise<RemoteTaskResult>;
  /** True if the task has begun at the agent, or may have begun. */
  mayHaveBegun(call: NamedCall): boolean;
}

/**
 * Gives a task to an agent with the project's credential or the person's own. If the person has no credential, they are asked
 * to connect. Rejects only with the reason of the call's signal.
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

/**
 * True if the agent may be told the person's id. The header names no tenant, so the same id in two tenants would look like one
 * person.
 */
export function isForTenant(
  { userHeader, userTenant }: Pick<CalledAgent, 'userHeader' | 'userTenant'>,
  { tenant }: TurnPerson,
): boolean {
  return userHeader === undefined || userTenant === tenant;
}

/** The person's account at the agent, which provides the headers of a call. Undefined for agents that need none. */
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

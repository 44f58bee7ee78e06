import { isSlackId, type SlackUser } from '../store/workspace.ts';

/** The parts of Bolt's context that say where the app acts. */
export interface ActorContext {
  readonly teamId?: string;
  readonly enterpriseId?: string;
  readonly isEnterpriseInstall: boolean;
}

/**
 * The acting person, in the workspace of the installation. Undefined for people of another company in a channel shared with it
 * (Slack Connect), because they are not users of this deployment. With an installation for an enterprise, a person of another
 * workspace counts as a member of the enterprise only if no other company can be in the channel (`isWithinCompany`).
 */
export function actorOf(
  { teamId, enterpriseId, isEnterpriseInstall }: ActorContext,
  userId: string | undefined,
  userTeam: string | undefined,
  isWithinCompany: boolean,
): SlackUser | undefined {
  const team = userTeam ?? teamId;
  if (userId === undefined || team === undefined || !isSlackId(userId) || !isSlackId(team)) return undefined;
  if (team !== teamId && !(isEnterpriseInstall && isWithinCompany)) return undefined;
  return { teamId: team, userId, ...(enterpriseId !== undefined && { enterpriseId }) };
}

import { isSlackId, type SlackUser } from '../store/workspace.ts';

/** The parts of Bolt's context that say where the app acts. */
export interface ActorContext {
  readonly teamId?: string;
  readonly enterpriseId?: string;
  readonly isEnterpriseInstall: boolean;
}

/**
 * The person who acts, in the workspace of the installation. Undefined for people of another company, who take part in a
 * channel that is shared with it (Slack Connect): they are nobody's users here. With an installation of an enterprise, a
 * person of another workspace is of that enterprise only where no other company can be (`isWithinCompany`).
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

import type { Owner } from '@parley/core/domain/ids';
import { z } from 'zod';

/** Where the app is installed: in a workspace, or in an enterprise with all its workspaces. */
export interface Workspace {
  readonly enterpriseId?: string | undefined;
  /** Absent for the installation of an enterprise. */
  readonly teamId?: string | undefined;
}

/** A person in Slack. User ids are unique within a workspace, and within an enterprise. */
export const SlackUser = z.object({
  enterpriseId: z.string().optional(),
  teamId: z.string(),
  userId: z.string(),
});
export type SlackUser = z.infer<typeof SlackUser>;

/** A Slack user as the value of a record. The same user always gives the same text. */
export function slackUserText({ enterpriseId, teamId, userId }: SlackUser): string {
  return JSON.stringify({ ...(enterpriseId !== undefined && { enterpriseId }), teamId, userId });
}

export function isSameUser(one: SlackUser, other: SlackUser): boolean {
  return slackUserText(one) === slackUserText(other);
}

/** Parses the result of `slackUserText`. */
export function parseSlackUser(text: string): SlackUser {
  return SlackUser.parse(JSON.parse(text));
}

/** No tenant has this name. Data of a workspace does not belong to a user of a tenant. */
const TENANT = '\u0000slack';
// The number of owners for a workspace's links. An owner may have only a limited number of records, and a workspace may have
// more people.
const SHARDS = 64;

/** The form of all ids that Slack assigns. */
const SLACK_ID = /^[A-Z0-9]{1,32}$/;

/** True for text that may be one of Slack's ids. Other text never becomes part of a key. */
export function isSlackId(text: string): boolean {
  return SLACK_ID.test(text);
}

/** The owner of the records and the credential of an installation. */
export function installationOwner({ enterpriseId, teamId }: Workspace): Owner {
  return { tenant: TENANT, userId: teamId ?? `enterprise ${enterpriseId ?? ''}` };
}

/**
 * The owner of a person's link. It contains the enterprise, because the same team id in another enterprise means another
 * person.
 */
export function linkOwner({ enterpriseId = '', teamId, userId }: SlackUser): Owner {
  return shardOwner({ enterpriseId, teamId }, shardOf(userId));
}

/** The owner of the list of an enterprise's workspaces that contain linked people. */
export function teamsOwner(enterpriseId: string): Owner {
  return { tenant: TENANT, userId: `teams ${enterpriseId}` };
}

/** The owners of all links of a workspace. */
export function linkOwners(workspace: Workspace): Owner[] {
  return Array.from({ length: SHARDS }, (_, shard) => shardOwner(workspace, shard));
}

function shardOwner({ enterpriseId = '', teamId = '' }: Workspace, shard: number): Owner {
  return { tenant: TENANT, userId: `${enterpriseId}/${teamId}/${shard}` };
}

function shardOf(userId: string): number {
  let sum = 0;
  for (const character of userId) sum = (sum * 31 + character.charCodeAt(0)) % SHARDS;
  return sum;
}

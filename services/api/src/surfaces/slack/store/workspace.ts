import type { Owner } from '@parley/core/domain/ids';
import { z } from 'zod';

/** Where the app is installed: a workspace, or an enterprise with all of its workspaces. */
export interface Workspace {
  readonly enterpriseId?: string | undefined;
  /** Absent for an installation of an enterprise. */
  readonly teamId?: string | undefined;
}

/** A person in Slack. User ids are unique within a workspace, and within an enterprise. */
export const SlackUser = z.object({
  enterpriseId: z.string().optional(),
  teamId: z.string(),
  userId: z.string(),
});
export type SlackUser = z.infer<typeof SlackUser>;

/** A Slack user as a value of a record. The same user is always the same text. */
export function slackUserText({ enterpriseId, teamId, userId }: SlackUser): string {
  return JSON.stringify({ ...(enterpriseId !== undefined && { enterpriseId }), teamId, userId });
}

export function isSameUser(one: SlackUser, other: SlackUser): boolean {
  return slackUserText(one) === slackUserText(other);
}

/** Reads what `slackUserText` made. */
export function parseSlackUser(text: string): SlackUser {
  return SlackUser.parse(JSON.parse(text));
}

/** No tenant has this name: what belongs to a workspace belongs to nobody's user. */
const TENANT = '\u0000slack';
// An owner has a bounded number of records, and a workspace may have more people.
const SHARDS = 64;

/** Every id that Slack gives out. */
const SLACK_ID = /^[A-Z0-9]{1,32}$/;

/** True for a text that may be an id of Slack. Others never reach a key. */
export function isSlackId(text: string): boolean {
  return SLACK_ID.test(text);
}

/** The owner of the records and the credential of an installation. */
export function installationOwner({ enterpriseId, teamId }: Workspace): Owner {
  return { tenant: TENANT, userId: teamId ?? `enterprise ${enterpriseId ?? ''}` };
}

/** The owner of the link of a person. An enterprise is part of it: the same team id in another one is another person. */
export function linkOwner({ enterpriseId = '', teamId, userId }: SlackUser): Owner {
  return shardOwner({ enterpriseId, teamId }, shardOf(userId));
}

/** The owner of the list of an enterprise's workspaces in which people are linked. */
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

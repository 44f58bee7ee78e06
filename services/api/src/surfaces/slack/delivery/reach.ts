import { isSameOwner, type Owner } from '@parley/core/domain/ids';
import type { WebClient } from '@slack/web-api';
import type { SlackThread } from '../store/threads.ts';
import { isSameUser, type SlackUser } from '../store/workspace.ts';
import type { SlackDeliveryDeps } from './deps.ts';

/**
 * A client for content meant for a person, through this Slack user. Undefined if the app is no longer installed, or if the link
 * between the two is not valid at present: somebody else may then read there.
 */
export async function clientFor(
  { installations, links, clientOf }: Pick<SlackDeliveryDeps, 'installations' | 'links' | 'clientOf'>,
  owner: Owner,
  user: SlackUser,
): Promise<WebClient | undefined> {
  const [linked, installation] = await Promise.all([links.find(user), installations.find(user)]);
  const isLinked = linked !== undefined && isSameOwner(linked, owner);
  return isLinked && installation !== undefined ? clientOf(installation.botToken) : undefined;
}

/**
 * The place of a record's notice: the direct messages of the Slack user who got it, or else of the user whom its person linked
 * first. Undefined if the link has ended, and for a person without a link. Throws what the Web API throws.
 */
export async function noticePlace(
  deps: Pick<SlackDeliveryDeps, 'links' | 'places' | 'installations' | 'clientOf'>,
  owner: Owner,
  id: string,
): Promise<{ readonly place: SlackThread; readonly isPosted: boolean } | undefined> {
  const [users, noticed, posted] = await Promise.all([
    deps.links.of(owner),
    deps.places.noticed(owner, id),
    deps.places.posted(owner, id),
  ]);
  const user = noticed === undefined ? users[0] : users.find((one) => isSameUser(one, noticed));
  if (user === undefined) return undefined;
  // Earlier versions did not record who got a notice. The channel shows whether it was this user.
  if (posted !== undefined && noticed === undefined) {
    const client = await clientFor(deps, owner, user);
    if (client === undefined || (await directOf(client, user)) !== posted.channel) return undefined;
  }
  const place = { ...user, isPrivate: true, channel: posted?.channel ?? user.userId };
  return { place, isPosted: posted !== undefined };
}

/** The channel of direct messages with a Slack user, which is opened if there is none. */
export async function directOf(client: WebClient, { userId }: SlackUser): Promise<string | undefined> {
  const { channel } = await client.conversations.open({ users: userId });
  return channel?.id;
}

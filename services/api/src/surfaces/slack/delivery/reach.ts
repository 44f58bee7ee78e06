import type { Owner } from '@parley/shared/domain/ids';
import type { WebClient } from '@slack/web-api';
import { type SlackUser, slackUserText } from '../store/workspace.ts';
import type { SlackDeliveryDeps } from './deps.ts';

/**
 * A client for what a person is shown as this Slack user. Undefined where the app is not installed any more, or where the
 * link between the two does not hold at this moment: somebody else may read there by now.
 */
export async function clientFor(
  { installations, links, clientOf }: Pick<SlackDeliveryDeps, 'installations' | 'links' | 'clientOf'>,
  { tenant, userId }: Owner,
  user: SlackUser,
): Promise<WebClient | undefined> {
  const [linked, installation] = await Promise.all([links.find(user), installations.find(user)]);
  const isLinked = linked?.tenant === tenant && linked.userId === userId;
  return isLinked && installation !== undefined ? clientOf(installation.botToken) : undefined;
}

/**
 * The Slack user who gets the notice of a record: the one who has got it, else the one whom its person linked first.
 * Undefined when their link has ended, and for a person without a link.
 */
export async function noticedUser(
  { links, places }: Pick<SlackDeliveryDeps, 'links' | 'places'>,
  owner: Owner,
  id: string,
): Promise<SlackUser | undefined> {
  const [users, earlier] = await Promise.all([links.of(owner), places.noticed(owner, id)]);
  if (earlier === undefined) return users[0];
  return users.find((user) => slackUserText(user) === slackUserText(earlier));
}

/** Stores which person a Slack user is. Proving it is in `outside.ts` and `pages/link`. */

import { randomUUID } from 'node:crypto';
import { isSameOwner, type Owner } from '@parley/core/domain/ids';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { z } from 'zod';
import {
  linkOwner,
  linkOwners,
  parseSlackUser,
  type SlackUser,
  slackUserText,
  teamsOwner,
  type Workspace,
} from './workspace.ts';

/**
 * Which person of this deployment a Slack user is. A link is made only after the same browser was signed in to both
 * (docs/slack.md). It is valid for one user of one workspace. Every method throws `unavailable`.
 */
export interface Links {
  /** The owner of a Slack user's questions; undefined without a link. */
  find(user: SlackUser): Promise<Owner | undefined>;
  /** Links the two, and replaces an earlier link of that Slack user. Throws `user_erased`. */
  add(user: SlackUser, owner: Owner): Promise<void>;
  /** The Slack users to which a person is linked, in the order of linking. */
  of(owner: Owner): Promise<readonly SlackUser[]>;
  /** Ends all links of a person, including those that are being made. The person must be fenced (`Erasure.fence`). */
  removeOf(owner: Owner): Promise<void>;
  /** Ends all links of a workspace. */
  removeAll(workspace: Workspace): Promise<void>;
}

/** How long a link is stored after its last use, in ms. */
const KEPT_MS = 400 * 24 * 3_600_000;
/** The maximum number of Slack users of a person. */
const PER_PERSON_MAX = 8;
const RECORD = 'link/';
const INDEX = 'slack-link/';
/** The records in which earlier versions listed the Slack users of a person. Their links have no id. */
const EARLIER_INDEX = Array.from({ length: 8 }, (_, slot) => `${INDEX}${slot}`);

/** The person, and the link's id, which consists of its creation time and a random part. */
const Link = z.object({ tenant: z.string(), userId: z.string(), id: z.string().optional() });
type Link = z.infer<typeof Link>;

/**
 * A link consists of a record of the Slack user, and an entry in the person's index whose name contains the link's id. It is
 * valid while both exist. So the one record decides to whom the Slack user belongs, erasing either side ends the link, and the
 * entry of one link never serves another.
 */
export function createLinks(records: OwnerRecords): Links {
  const nameOf = ({ userId }: SlackUser) => `${RECORD}${userId}`;
  const entriesOf = ({ id }: Link) => (id === undefined ? EARLIER_INDEX : [`${INDEX}${id}`]);

  async function read(user: SlackUser, renewMs?: number): Promise<Link | undefined> {
    const value = await records.read(linkOwner(user), nameOf(user), renewMs);
    return value === undefined ? undefined : Link.parse(JSON.parse(value));
  }

  async function isIndexed(link: Link, user: SlackUser, renewMs?: number): Promise<boolean> {
    for (const name of entriesOf(link))
      if ((await records.read(link, name, renewMs)) === slackUserText(user)) return true;
    return false;
  }

  async function removeEntries(link: Link, user: SlackUser): Promise<void> {
    for (const name of entriesOf(link)) await records.remove(link, name, slackUserText(user));
  }

  /** Makes `value` the record of the Slack user. Returns the link that it replaced. */
  async function swap(user: SlackUser, value: string): Promise<Link | undefined> {
    const [owner, name] = [linkOwner(user), nameOf(user)];
    for (;;) {
      const from = await records.read(owner, name);
      if (await records.replace(owner, { name, from, to: value, ttlMs: KEPT_MS }))
        return from === undefined ? undefined : Link.parse(JSON.parse(from));
    }
  }

  /** Removes the record of the Slack user if it names this person. */
  async function removeRecord(user: SlackUser, owner: Owner): Promise<void> {
    const value = await records.read(linkOwner(user), nameOf(user));
    if (value !== undefined && isSameOwner(Link.parse(JSON.parse(value)), owner))
      await records.remove(linkOwner(user), nameOf(user), value);
  }

  /** The valid links of a person, the oldest first. */
  async function linksOf(owner: Owner): Promise<{ readonly user: SlackUser; readonly link: Link }[]> {
    const texts = new Set((await records.list(owner, INDEX)).map(({ value }) => value));
    const found = await Promise.all(
      [...texts].map(parseSlackUser).map(async (user) => {
        const link = await read(user);
        const holds = link !== undefined && isSameOwner(link, owner) && (await isIndexed(link, user));
        return holds ? [{ user, link }] : [];
      }),
    );
    return found.flat().sort((one, other) => ((one.link.id ?? '') < (other.link.id ?? '') ? -1 : 1));
  }

  /** Lists the workspace of an enterprise's user, for when the installation of the whole enterprise ends. */
  async function noteTeam({ enterpriseId, teamId }: SlackUser): Promise<void> {
    if (enterpriseId === undefined) return;
    await records.putIfAbsent(teamsOwner(enterpriseId), `team/${teamId}`, teamId, KEPT_MS);
  }

  async function renewTeam({ enterpriseId, teamId }: SlackUser): Promise<void> {
    if (enterpriseId !== undefined) await records.read(teamsOwner(enterpriseId), `team/${teamId}`, KEPT_MS);
  }

  async function add(user: SlackUser, { tenant, userId }: Owner): Promise<void> {
    const owner = { tenant, userId };
    const link = { ...owner, id: `${await records.now(owner)}-${randomUUID()}` };
    const value = textOf(link);
    await noteTeam(user);
    // The entry is written first: an erasure finds it, and refuses it afterwards.
    await records.putIfAbsent(owner, `${INDEX}${link.id}`, slackUserText(user), KEPT_MS);
    const replaced = await swap(user, value);
    if (replaced !== undefined) await removeEntries(replaced, user);
    // The entry is gone if the link has ended, or if an erasure deleted it before the record existed. The record is then
    // removed, and the link is made again.
    if (!(await isIndexed(link, user)) && (await records.remove(linkOwner(user), nameOf(user), value)))
      return add(user, owner);
    for (const { user: oldest, link: old } of (await linksOf(owner)).slice(0, -PER_PERSON_MAX)) {
      await removeEntries(old, oldest);
      await records.remove(linkOwner(oldest), nameOf(oldest), textOf(old));
    }
  }

  return {
    add,
    async find(user) {
      const [link] = await Promise.all([read(user, KEPT_MS), renewTeam(user)]);
      if (link === undefined || !(await isIndexed(link, user, KEPT_MS))) return undefined;
      return { tenant: link.tenant, userId: link.userId };
    },
    async of(owner) {
      return (await linksOf(owner)).map(({ user }) => user);
    },
    async removeOf(owner) {
      for (const { name, value } of await records.list(owner, INDEX)) {
        const user = parseSlackUser(value);
        // The record is removed first. If this is interrupted, the entry still leads to the rest.
        await removeRecord(user, owner);
        await records.remove(owner, name, value);
        // The removal is repeated, because a link that was being made may have written the record since.
        await removeRecord(user, owner);
      }
    },
    async removeAll(workspace) {
      for (const shard of linkOwners(workspace))
        for (const { name, value } of await records.list(shard, RECORD)) {
          const userId = name.slice(RECORD.length);
          const user = { enterpriseId: workspace.enterpriseId, teamId: workspace.teamId ?? '', userId };
          // The entries are removed first. If this is interrupted, the record still leads to the rest.
          await removeEntries(Link.parse(JSON.parse(value)), user);
          await records.remove(shard, name, value);
        }
    },
  };
}

/** The value of the record. It is also equal to the value that an earlier version wrote. */
function textOf({ tenant, userId, id }: Link): string {
  return JSON.stringify({ tenant, userId, id });
}

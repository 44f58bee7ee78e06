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
 * Which person of this deployment a person in Slack is. A link is made only after the same browser was signed in to both
 * (docs/slack.md), and holds for one user of one workspace. Every call throws `unavailable`.
 */
export interface Links {
  /** The owner of a Slack user's questions; undefined without a link. */
  find(user: SlackUser): Promise<Owner | undefined>;
  /** Links the two, in place of an earlier link of that Slack user. Throws `user_erased`. */
  add(user: SlackUser, owner: Owner): Promise<void>;
  /** The Slack users that a person is linked to, the one that was linked first at the front. */
  of(owner: Owner): Promise<readonly SlackUser[]>;
  /** Ends all links of a person, also those that are being made. The person must be fenced (`Erasure.fence`). */
  removeOf(owner: Owner): Promise<void>;
  /** Ends all links of a workspace. */
  removeAll(workspace: Workspace): Promise<void>;
}

/** For how long a link is kept after its last use, in ms. */
const KEPT_MS = 400 * 24 * 3_600_000;
/** A person has at most so many Slack users. */
const PER_PERSON_MAX = 8;
const RECORD = 'link/';
const INDEX = 'slack-link/';
/** Where earlier versions listed the Slack users of a person. Their links have no id. */
const EARLIER_INDEX = Array.from({ length: 8 }, (_, slot) => `${INDEX}${slot}`);

/** The person, and the id of the link: the time at which it was made, and a random part. */
const Link = z.object({ tenant: z.string(), userId: z.string(), id: z.string().optional() });
type Link = z.infer<typeof Link>;

/**
 * A link is one record of the Slack user, which an entry in the index of the person leads to. The id of the link names the
 * entry, and the link holds while both are there. So one record decides whose the Slack user is, what is erased of either
 * side ends the link, and an entry of one link never serves another.
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

  /** The links of a person that hold, the oldest at the front. */
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

  /** Lists the workspace of a user of an enterprise, for the end of an installation of the whole enterprise. */
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
    // The entry first: an erasure finds it, and refuses it afterwards.
    await records.putIfAbsent(owner, `${INDEX}${link.id}`, slackUserText(user), KEPT_MS);
    const replaced = await swap(user, value);
    if (replaced !== undefined) await removeEntries(replaced, user);
    // The entry has gone with the end of the link, or with an erasure that did not see the record yet.
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
        // The record first: the entry leads to what is left of an interrupted end.
        await removeRecord(user, owner);
        await records.remove(owner, name, value);
        // Again: a link that was being made may have written it since.
        await removeRecord(user, owner);
      }
    },
    async removeAll(workspace) {
      for (const shard of linkOwners(workspace))
        for (const { name, value } of await records.list(shard, RECORD)) {
          const userId = name.slice(RECORD.length);
          const user = { enterpriseId: workspace.enterpriseId, teamId: workspace.teamId ?? '', userId };
          // The entry first: the record leads to what is left of an interrupted end.
          await removeEntries(Link.parse(JSON.parse(value)), user);
          await records.remove(shard, name, value);
        }
    },
  };
}

/** The value of the record, also of one of an earlier version. */
function textOf({ tenant, userId, id }: Link): string {
  return JSON.stringify({ tenant, userId, id });
}

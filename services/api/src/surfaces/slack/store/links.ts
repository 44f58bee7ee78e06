import type { Owner } from '@parley/shared/domain/ids';
import type { OwnerRecords } from '@parley/shared/ports/owner-records';
import { z } from 'zod';
import { linkOwner, linkOwners, type SlackUser, teamsOwner, type Workspace } from './workspace.ts';

/**
 * Which person of this deployment a person in Slack is. A link is made only after the same browser was signed in to both
 * (docs/slack.md), and holds for one user of one workspace. Every call throws `unavailable`.
 */
export interface Links {
  /** The owner of a Slack user's questions; undefined without a link. */
  find(user: SlackUser): Promise<Owner | undefined>;
  /** Links the two, in place of an earlier link of that Slack user. Throws `user_erased`. */
  add(user: SlackUser, owner: Owner): Promise<void>;
  remove(user: SlackUser): Promise<void>;
  /** Ends all links of a workspace. */
  removeAll(workspace: Workspace): Promise<void>;
  /** The Slack users that a person is linked to. */
  of(owner: Owner): Promise<readonly SlackUser[]>;
}

/** For how long a link is kept after its last use, in ms. */
const KEPT_MS = 400 * 24 * 3_600_000;
/** A person has at most so many Slack users. */
const PER_PERSON_MAX = 8;

const LinkedOwner = z.object({ tenant: z.string(), userId: z.string() });
const LinkedUser = z.object({ enterpriseId: z.string().optional(), teamId: z.string(), userId: z.string() });

/** Links as records, of the Slack user and of the person: what is erased of either ends the link. */
export function createLinks(records: OwnerRecords): Links {
  const nameOf = ({ userId }: SlackUser) => `link/${userId}`;
  const slot = (index: number) => `slack-link/${index}`;
  const slots = Array.from({ length: PER_PERSON_MAX }, (_, index) => slot(index));

  async function ownerOf(user: SlackUser): Promise<Owner | undefined> {
    const value = await records.read(linkOwner(user), nameOf(user), KEPT_MS);
    return value === undefined ? undefined : LinkedOwner.parse(JSON.parse(value));
  }

  /** Lists the workspace of a user of an enterprise, for the end of an installation of the whole enterprise. */
  async function noteTeam({ enterpriseId, teamId }: SlackUser): Promise<void> {
    if (enterpriseId === undefined) return;
    await records.putIfAbsent(teamsOwner(enterpriseId), `team/${teamId}`, teamId, KEPT_MS);
  }

  async function renewTeam({ enterpriseId, teamId }: SlackUser): Promise<void> {
    if (enterpriseId !== undefined) await records.read(teamsOwner(enterpriseId), `team/${teamId}`, KEPT_MS);
  }

  async function slotOf(owner: Owner, user: SlackUser): Promise<string | undefined> {
    const text = textOf(user);
    for (const name of slots) if ((await records.read(owner, name, KEPT_MS)) === text) return name;
    return undefined;
  }

  async function remove(user: SlackUser): Promise<void> {
    const owner = await ownerOf(user);
    await records.remove(linkOwner(user), nameOf(user));
    const name = owner && (await slotOf(owner, user));
    if (owner !== undefined && name !== undefined) await records.remove(owner, name, textOf(user));
  }

  /** The Slack users that the person's side names. */
  async function namedBy(owner: Owner): Promise<SlackUser[]> {
    const found = await Promise.all(slots.map((name) => records.read(owner, name)));
    return found.flatMap((text) =>
      text === undefined ? [] : [LinkedUser.parse(JSON.parse(text)) as SlackUser],
    );
  }

  async function isLinked(user: SlackUser, { tenant, userId }: Owner): Promise<boolean> {
    const owner = await ownerOf(user);
    return owner?.tenant === tenant && owner.userId === userId;
  }

  return {
    remove,
    async removeAll(workspace) {
      for (const shard of linkOwners(workspace)) {
        const values = await records.list(shard, 'link/');
        for (const owner of values.map((value) => LinkedOwner.parse(JSON.parse(value)))) {
          const users = await namedBy(owner);
          for (const user of users.filter((one) => isOf(one, workspace)))
            for (const name of slots) await records.remove(owner, name, textOf(user));
        }
        // The side of the Slack users last: it leads to what is left of an interrupted end.
        await records.removeAll(shard);
      }
    },
    async find(user) {
      const [owner] = await Promise.all([ownerOf(user), renewTeam(user)]);
      // A person who was erased has no links any more.
      return owner !== undefined && (await slotOf(owner, user)) !== undefined ? owner : undefined;
    },
    async add(user, { tenant, userId }) {
      await remove(user);
      await noteTeam(user);
      const owner = { tenant, userId };
      const text = textOf(user);
      // The person's side first: an erasure finds it, and a link with one side is none.
      let isPut = false;
      for (const name of slots) {
        isPut = (await records.putIfAbsent(owner, name, text, KEPT_MS)) === text;
        if (isPut) break;
      }
      if (!isPut) {
        const [oldest] = await Promise.all([records.read(owner, slot(0))]);
        if (oldest !== undefined) await remove(LinkedUser.parse(JSON.parse(oldest)) as SlackUser);
        await records.putIfAbsent(owner, slot(0), text, KEPT_MS);
      }
      await records.putIfAbsent(linkOwner(user), nameOf(user), JSON.stringify(owner), KEPT_MS);
    },
    async of(owner) {
      const users = await namedBy(owner);
      const linked = await Promise.all(users.map((user) => isLinked(user, owner)));
      return users.filter((_, index) => linked[index]);
    },
  };
}

function isOf(user: SlackUser, { enterpriseId, teamId }: Workspace): boolean {
  return user.enterpriseId === enterpriseId && user.teamId === teamId;
}

function textOf({ enterpriseId, teamId, userId }: SlackUser): string {
  return JSON.stringify({ ...(enterpriseId !== undefined && { enterpriseId }), teamId, userId });
}

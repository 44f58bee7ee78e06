import { within } from '@parley/shared/async/time-limit';
import type { WebClient } from '@slack/web-api';
import { LRUCache } from 'lru-cache';
import type { Mention } from '../mapping/mentions.ts';
import { lineText } from '../mapping/text.ts';
import type { SlackUser } from '../store/workspace.ts';

/** The place for which names are looked up. */
export interface NamePlace extends Pick<SlackUser, 'teamId'> {
  readonly client: Pick<WebClient, 'users' | 'conversations' | 'usergroups'>;
}

/** Finds the names for the mentions in a message. Names that Slack does not return in time are missing. */
export type Names = (
  place: NamePlace,
  mentions: readonly Mention[],
) => Promise<(mention: Mention) => string | undefined>;

const NAMES_MAX = 10_000;
const KEPT_MS = 600_000;
/** How soon Slack is asked again for a name that it did not return. */
const MISSED_MS = 60_000;
/** The maximum number of names looked up for one message. */
const ASKED_MAX = 20;
/** The maximum wait, because Slack expects an acknowledgement within three seconds. */
const WAIT_MS = 1_500;
const NAME_MAX = 80;

/** One reply of Slack: a single name, or the names of all groups. */
type Told = ReadonlyMap<string, string | undefined>;

/** A request for names, and Slack's reply. */
interface AskedNames {
  told?: Told;
  readonly done: Promise<void>;
}

/**
 * Caches the names that Slack returns. A refusal is not reported as a fault: the app may lack the scope, or may not see the
 * person.
 */
export function createNames({ waitMs = WAIT_MS } = {}): Names {
  const known = new LRUCache<string, AskedNames>({ max: NAMES_MAX, ttl: KEPT_MS });

  function ask(place: NamePlace, mention: Mention, key: string): AskedNames {
    const missed = () => void known.set(key, asked, { ttl: MISSED_MS });
    const asked: AskedNames = {
      done: namesOf(place, mention).then((told) => {
        asked.told = told;
        if (!told.get(mention.id)) missed();
      }, missed),
    };
    known.set(key, asked);
    return asked;
  }

  return async (place, mentions) => {
    // Slack returns the names of all groups in one reply.
    const keyOf = ({ kind, id }: Mention) =>
      [place.teamId, kind, ...(kind === 'group' ? [] : [id])].join('/');
    const found = new Map<string, AskedNames>();
    let left = ASKED_MAX;
    for (const mention of mentions) {
      const key = keyOf(mention);
      const before = found.get(key) ?? known.get(key);
      if (before === undefined) left -= 1;
      if (before !== undefined || left >= 0) found.set(key, before ?? ask(place, mention, key));
    }
    await within(waitMs, Promise.all([...found.values()].map(({ done }) => done)));
    return (mention) => {
      const name = found.get(keyOf(mention))?.told?.get(mention.id);
      return name ? lineText(name, NAME_MAX) : undefined;
    };
  };
}

async function namesOf({ client, teamId }: NamePlace, { kind, id }: Mention): Promise<Told> {
  if (kind === 'channel') {
    const { channel } = await client.conversations.info({ channel: id });
    // The writer may not be a member of a private channel that the app can see, so its name is not revealed.
    return new Map([[id, channel?.is_private === true ? undefined : channel?.name]]);
  }
  if (kind === 'group') {
    const { usergroups = [] } = await client.usergroups.list({ team_id: teamId });
    return new Map(usergroups.map((group) => [group.id ?? '', group.handle]));
  }
  const { user } = await client.users.info({ user: id });
  const name = user?.profile?.display_name || user?.profile?.real_name || user?.real_name || user?.name;
  return new Map([[id, name]]);
}

/**
 * The port of conversations on Redis: reading histories and lists. Writing is not here: begin.lua and write.lua do it together
 * with the run.
 */

import type { Owner } from '@parley/core/domain/ids';
import { RememberedMessage } from '../../domain/runs/run.ts';
import type { Conversations, ListedConversation } from '../../ports/runs/conversations.ts';
import type { Commands } from '../client/connect.ts';
import {
  conversationKey,
  conversationsKey,
  limitKey,
  messagesKey,
  turnsKey,
  usageKey,
} from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';

/** A conversation's place in the list: by time, and then by id. */
interface Place {
  readonly at: number;
  readonly conversationId: string;
}

/** Reads conversations in the form that runs/begin.lua and runs/write.lua write. */
export function createRedisConversations(redis: Commands, onError?: (error: unknown) => void): Conversations {
  const renameScript = loadScript(redis, 'runs/rename', onError);

  async function places(owner: Owner, limit: number, cursor: string | undefined): Promise<Place[]> {
    const key = conversationsKey(owner);
    const after = cursor === undefined ? undefined : parsePlace(cursor);
    const read = (from: string, to: string, most: number) =>
      orUnavailable(
        () => redis.zrange(key, from, to, 'BYSCORE', 'REV', 'LIMIT', 0, most, 'WITHSCORES'),
        onError,
      ).then(placesOf);
    if (after === undefined) return read('+inf', '-inf', limit);
    // Entries with equal times are ordered by id.
    const [ties, later] = await Promise.all([
      read(`${after.at}`, `${after.at}`, -1),
      read(`(${after.at}`, '-inf', limit),
    ]);
    return [...ties.filter(({ conversationId }) => conversationId < after.conversationId), ...later];
  }

  async function listed(owner: Owner, place: Place): Promise<ListedConversation | undefined> {
    const key = conversationKey({ ...owner, conversationId: place.conversationId });
    const [agent, title, running] = await orUnavailable(
      () => redis.hmget(key, 'agent', 'title', 'running'),
      onError,
    );
    // Without an agent, the conversation has expired.
    if (agent == null) return undefined;
    return { ...place, agent, ...(title != null && { title }), isRunning: running != null };
  }

  return {
    async read(conversation) {
      const [[running = null, last = null, detached = null, traceparent = null], messages] =
        await orUnavailable(
          () =>
            Promise.all([
              redis.hmget(
                conversationKey(conversation),
                'running',
                'last',
                'lastDetached',
                'lastTraceparent',
              ),
              redis.lrange(messagesKey(conversation), 0, -1),
            ]),
          onError,
        );
      return {
        ...(running !== null && { running }),
        ...(last !== null && {
          last: {
            streamRequestId: last,
            wasDetached: detached === '1',
            ...(traceparent !== null && traceparent !== '' && { traceparent }),
          },
        }),
        messages: messages.map((message) => RememberedMessage.parse(JSON.parse(message))),
      };
    },
    async list({ tenant, userId }, { limit, cursor }) {
      const owner = { tenant, userId };
      const found = await places(owner, limit + 1, cursor);
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const conversations = await Promise.all(page.map((place) => listed(owner, place)));
      return {
        conversations: conversations.filter((one) => one !== undefined),
        ...(last !== undefined && found.length > limit && { nextCursor: formatPlace(last) }),
      };
    },
    async usage(owner) {
      const [turns, tokens, [storedBytes = null, count = null]] = await orUnavailable(
        () =>
          Promise.all([
            redis.scard(turnsKey(owner)),
            redis.get(limitKey('tokens', owner)),
            redis.hmget(usageKey(owner), 'total', 'conversations'),
          ]),
        onError,
      );
      return {
        turns,
        tokens: Number(tokens ?? 0),
        conversations: Number(count ?? 0),
        storedBytes: Number(storedBytes ?? 0),
      };
    },
    async rename(conversation, title) {
      const keys = [conversationKey(conversation), conversationsKey(conversation)];
      return Number(await renameScript(keys, [conversation.conversationId, title])) === 1;
    },
  };
}

function placesOf(flat: readonly unknown[]): Place[] {
  const places: Place[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    places.push({ conversationId: String(flat[index]), at: Number(flat[index + 1]) });
  }
  return places;
}

function formatPlace({ at, conversationId }: Place): string {
  return `${at}.${conversationId}`;
}

function parsePlace(cursor: string): Place {
  const dot = cursor.indexOf('.');
  return { at: Number(cursor.slice(0, dot)), conversationId: cursor.slice(dot + 1) };
}

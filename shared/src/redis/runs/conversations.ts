import { Message } from '../../domain/runs/run.ts';
import type { Conversations } from '../../ports/runs/conversations.ts';
import type { Commands } from '../client/connect.ts';
import { conversationKey, messagesKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

/** The messages of conversations as lists of JSON, written by runs/write.lua. */
export function createRedisConversations(redis: Commands, onError?: (error: unknown) => void): Conversations {
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
        messages: messages.map((message) => Message.parse(JSON.parse(message))),
      };
    },
  };
}

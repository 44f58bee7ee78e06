import { createServerClock } from './clock.ts';
import { createCache } from './server/cache.ts';
import { createCalls } from './server/calls.ts';
import { createServerConnection } from './server/connection.ts';
import { createPageLifecycle } from './server/page.ts';
import { Refusal } from './server/refusal.ts';
import type { ElicitationServer, ElicitationServerOptions } from './server/type.ts';

export { type Elicitation, isElicitation } from './elicitation.ts';
export { Refusal } from './server/refusal.ts';
export type { Answer, Connection, ElicitationServer, ElicitationServerOptions } from './server/type.ts';

/**
 * Creates a page's connection to Parley. It sends nothing until something is followed.
 *
 * @example
 * const server = createElicitationServer({ baseUrl: 'https://parley.example.com', getToken: () => session.token() });
 */
export function createElicitationServer(options: ElicitationServerOptions): ElicitationServer {
  const { baseUrl = '', pollMs = 4_000, hiddenMs = 10_000, retryMs = [500, 15_000] } = options;
  const clock = createServerClock();
  const cache = createCache();
  const calls = createCalls({
    baseUrl,
    getToken: () => options.getToken(),
    ...(options.fetch !== undefined && { fetch: options.fetch }),
    retryMs,
    onTime: clock.note,
  });
  const page = options.page ?? createPageLifecycle();
  const connection = createServerConnection({
    calls,
    cache,
    page,
    pollMs,
    hiddenMs,
    retryMs,
    onTime: clock.note,
  });

  return {
    now: clock.now,
    noteTime: (serverTime) => clock.note(serverTime),
    async read(elicitationId) {
      const elicitation = await calls.read(elicitationId);
      cache.update(elicitation);
      return elicitation;
    },
    async answer(elicitationId, answer) {
      try {
        const elicitation = await calls.answer(elicitationId, answer);
        cache.update(elicitation);
        return elicitation;
      } catch (error) {
        if (error instanceof Refusal && error.elicitation !== undefined) cache.update(error.elicitation);
        throw error;
      }
    },
    follow(elicitationId, onChange, onConnection, onGone) {
      onConnection?.(cache.connection());
      const unfollow = cache.follow(elicitationId, { onChange, onConnection, onGone });
      connection.followed(elicitationId);
      return () => {
        unfollow();
        connection.unfollowed();
      };
    },
    followInbox(onOpen, onConnection) {
      onConnection?.(cache.connection());
      const unfollow = cache.followInbox({ onOpen, onConnection });
      connection.followed();
      return () => {
        unfollow();
        connection.unfollowed();
      };
    },
    close: connection.close,
  };
}

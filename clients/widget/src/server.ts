import { createServerClock } from './clock.ts';
import { sendAnswer } from './server/answer.ts';
import { createBook } from './server/cache.ts';
import { createCalls } from './server/calls.ts';
import { createLine } from './server/connection.ts';
import { createPage } from './server/page.ts';
import { pathOf } from './server/polling.ts';
import { Refusal } from './server/refusal.ts';
import type { ElicitationServer, ElicitationServerOptions } from './server/type.ts';

export { type Elicitation, isElicitation } from './elicitation.ts';
export { Refusal } from './server/refusal.ts';
export type { Answer, Connection, ElicitationServer, ElicitationServerOptions } from './server/type.ts';

/**
 * Makes the way to Parley for a page. Opens nothing until something is followed.
 *
 * @example
 * const server = createElicitationServer({ baseUrl: 'https://parley.example.com', getToken: () => session.token() });
 */
export function createElicitationServer(options: ElicitationServerOptions): ElicitationServer {
  const { baseUrl = '', pollMs = 4_000, hiddenMs = 10_000, retryMs = [500, 15_000] } = options;
  const clock = createServerClock();
  const book = createBook();
  const calls = createCalls({
    baseUrl,
    getToken: () => options.getToken(),
    // Called as a plain function: a browser's fetch refuses to be a method of something else.
    fetch: (input, init) => (options.fetch ?? globalThis.fetch)(input, init),
    onTime: clock.note,
  });
  const page = options.page ?? createPage();
  const line = createLine({ calls, book, page, pollMs, hiddenMs, retryMs, onTime: clock.note });

  return {
    now: clock.now,
    noteTime: (serverTime) => clock.note(serverTime),
    async read(elicitationId) {
      const now = await calls.elicitation({ path: pathOf(elicitationId) }, new AbortController().signal);
      book.take(now);
      return now;
    },
    async answer(elicitationId, answer) {
      try {
        const now = await sendAnswer(calls, elicitationId, answer, retryMs);
        book.take(now);
        return now;
      } catch (error) {
        if (error instanceof Refusal && error.elicitation !== undefined) book.take(error.elicitation);
        throw error;
      }
    },
    follow(elicitationId, onNews, onConnection, onGone) {
      onConnection?.(book.connection());
      const unfollow = book.follow(elicitationId, { onNews, onConnection, onGone });
      line.want(elicitationId);
      return () => {
        unfollow();
        line.unwant();
      };
    },
    followInbox(onOpen, onConnection) {
      onConnection?.(book.connection());
      const unfollow = book.followInbox({ onOpen, onConnection });
      line.want();
      return () => {
        unfollow();
        line.unwant();
      };
    },
    close: line.close,
  };
}

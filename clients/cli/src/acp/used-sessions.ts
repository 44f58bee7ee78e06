import type { WatchedTurn } from './turn.ts';

/** The state of a session while something uses it: a turn, or a prompt that waits for one. */
export interface UsedSession {
  turn?: WatchedTurn | undefined;
  /** How often the session was cancelled. A cancel also applies to prompts that wait for their turn. */
  cancels: number;
}

/** The sessions in use. Only these are kept, because an editor may begin many sessions on one connection and end few. */
interface UsedSessions {
  /** Keeps the session until `work` has settled. */
  use<T>(sessionId: string, work: (session: UsedSession) => Promise<T>): Promise<T>;
  /** The state of a session; undefined when nothing uses it. */
  find(sessionId: string): UsedSession | undefined;
  all(): readonly UsedSession[];
}

export function createUsedSessions(): UsedSessions {
  const sessions = new Map<string, UsedSession & { uses: number }>();
  return {
    async use(sessionId, work) {
      const session = sessions.get(sessionId) ?? { cancels: 0, uses: 0 };
      sessions.set(sessionId, session);
      session.uses += 1;
      try {
        return await work(session);
      } finally {
        session.uses -= 1;
        if (session.uses === 0) sessions.delete(sessionId);
      }
    },
    find: (sessionId) => sessions.get(sessionId),
    all: () => [...sessions.values()],
  };
}

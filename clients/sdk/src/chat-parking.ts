import type { Turn } from './chat-stream.ts';

/** Turns that are told anew and have no reader yet. Such a turn may end before another request could find it. */
export interface Parking {
  /** Keeps a turn for the next reader of its chat, for half a minute. */
  put(chatId: string, turn: Turn): void;
  /** Gives it out, once. */
  take(chatId: string): Turn | undefined;
  /** Ends the reading of this turn if nobody took it. */
  clear(chatId: string, turn?: Turn): void;
}

interface Parked {
  readonly turn: Turn;
  readonly timer: ReturnType<typeof setTimeout>;
}

const PARKED_MS = 30_000;

export function createParking(): Parking {
  const parked = new Map<string, Parked>();

  function take(chatId: string): Turn | undefined {
    const found = parked.get(chatId);
    clearTimeout(found?.timer);
    parked.delete(chatId);
    return found?.turn;
  }

  function clear(chatId: string, turn = parked.get(chatId)?.turn): void {
    if (parked.get(chatId)?.turn === turn) take(chatId)?.end();
  }

  return {
    take,
    clear,
    put(chatId, turn) {
      clear(chatId);
      parked.set(chatId, { turn, timer: setTimeout(() => clear(chatId, turn), PARKED_MS) });
    },
  };
}

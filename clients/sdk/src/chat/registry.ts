/**
 * Knows the open turn, the reader and the attached chat of each chat of a transport, so that a turn never has two readers.
 * Reading the turn itself is in `turn.ts`.
 */

import type { UIMessageChunk } from 'ai';
import { type AttachableChat, restartReading } from './attach.ts';
import { type ChatTurnReader, createTurnReader } from './reader.ts';
import type { TurnStream } from './turn.ts';

/** The chats of one transport. Each has at most one open turn, one reader of it, and one attached chat. */
interface ChatRegistry {
  /** Attaches a chat. Returns the function that detaches it. */
  attach(chat: AttachableChat): () => void;
  /** The turn of a chat that was reset and has no reader yet. It may end before a request could find it on the server. */
  unreadTurn(chatId: string): TurnStream | undefined;
  /** Gives a turn its reader and ends the chat's previous one. An aborted signal ends the reading. */
  read(
    chatId: string,
    turn: TurnStream,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<UIMessageChunk>>;
}

interface ChatEntry {
  chat?: AttachableChat | undefined;
  /** The open turn. Only its entry may close it. */
  turn?: TurnStream | undefined;
  reader?: ChatTurnReader | undefined;
  /** Set while the turn has no reader; closes the turn if none comes in time. */
  timer?: ReturnType<typeof setTimeout> | undefined;
}

const UNREAD_MS_MAX = 30_000;

export function createChatRegistry(): ChatRegistry {
  const entries = new Map<string, ChatEntry>();

  function entryFor(chatId: string): ChatEntry {
    const entry = entries.get(chatId) ?? {};
    entries.set(chatId, entry);
    return entry;
  }

  function deleteIfEmpty(chatId: string): void {
    const { chat, turn } = entries.get(chatId) ?? {};
    if (chat === undefined && turn === undefined) entries.delete(chatId);
  }

  function setReader(entry: ChatEntry, reader: ChatTurnReader | undefined): void {
    clearTimeout(entry.timer);
    entry.timer = undefined;
    entry.reader = reader;
  }

  function closeTurn(chatId: string, entry: ChatEntry): void {
    setReader(entry, undefined);
    entry.turn?.close();
    entry.turn = undefined;
    deleteIfEmpty(chatId);
  }

  /** Keeps the turn open for its next reader: the attached chat, or one that comes soon. */
  async function awaitReader(chatId: string, entry: ChatEntry): Promise<void> {
    setReader(entry, undefined);
    const closeUnread = () => {
      if (entry.timer === timer) closeTurn(chatId, entry);
    };
    const timer = setTimeout(closeUnread, UNREAD_MS_MAX);
    entry.timer = timer;
    unref(timer);
    if (entry.chat === undefined) return;
    await restartReading(entry.chat).catch(() => undefined);
    closeUnread();
  }

  return {
    attach(chat) {
      const entry = entryFor(chat.id);
      entry.chat = chat;
      return () => {
        if (entry.chat === chat) entry.chat = undefined;
        deleteIfEmpty(chat.id);
      };
    },
    unreadTurn(chatId) {
      const { turn, timer } = entries.get(chatId) ?? {};
      return timer === undefined ? undefined : turn;
    },
    async read(chatId, turn, signal) {
      const entry = entryFor(chatId);
      const { turn: olderTurn, reader: olderReader } = entry;
      const onAbort = () => reader.fail(signal?.reason);
      const reader = createTurnReader(turn, {
        onReset: () => awaitReader(chatId, entry),
        onEnd() {
          signal?.removeEventListener('abort', onAbort);
          if (entry.reader === reader) closeTurn(chatId, entry);
        },
      });
      setReader(entry, reader);
      entry.turn = turn;
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort);
      if (olderTurn !== turn) olderTurn?.close();
      if (olderReader === undefined) return reader.stream;
      olderReader.fail(new DOMException('Another reader has replaced this one.', 'AbortError'));
      // The consumer of the previous reader must see its error before the new stream; otherwise it attributes the error to the
      // new stream.
      await new Promise((resolve) => setTimeout(resolve));
      return reader.stream;
    },
  };
}

/** Lets a Node process end despite the timer. In a browser, a timer is a number and needs nothing. */
function unref(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}

import type { UIMessageChunk } from 'ai';
import { type AttachableChat, readAgain } from './attach.ts';
import { createTurnReader, type TurnReader } from './reader.ts';
import type { Turn } from './turn.ts';

/** What a transport has of its chats: of each the one turn that is told, who reads it, and the chat if it is attached. */
export interface ChatRecords {
  attach(chat: AttachableChat): () => void;
  /** The turn of a chat that is told anew and has no reader yet. It may end before a request could find it. */
  waitingTurn(chatId: string): Turn | undefined;
  /** Gives a turn its reader, in the place of whatever is read of this chat. An aborted signal ends the reading. */
  read(chatId: string, turn: Turn, signal: AbortSignal | undefined): Promise<ReadableStream<UIMessageChunk>>;
}

interface ChatRecord {
  chat?: AttachableChat | undefined;
  /** Only its record ends it. */
  turn?: Turn | undefined;
  reader?: TurnReader | undefined;
  /** There while the turn waits for its next reader; ends a turn that waits too long. */
  timer?: ReturnType<typeof setTimeout> | undefined;
}

const WAITING_MS = 30_000;

export function createChatRecords(): ChatRecords {
  const records = new Map<string, ChatRecord>();

  function recordOf(chatId: string): ChatRecord {
    const record = records.get(chatId) ?? {};
    records.set(chatId, record);
    return record;
  }

  function forgetEmpty(chatId: string): void {
    const { chat, turn } = records.get(chatId) ?? {};
    if (chat === undefined && turn === undefined) records.delete(chatId);
  }

  function setReader(record: ChatRecord, reader: TurnReader | undefined): void {
    clearTimeout(record.timer);
    record.timer = undefined;
    record.reader = reader;
  }

  function endTurn(chatId: string, record: ChatRecord): void {
    setReader(record, undefined);
    record.turn?.end();
    record.turn = undefined;
    forgetEmpty(chatId);
  }

  /** Keeps the turn for its next reader: the attached chat, or whoever comes soon. */
  async function awaitReader(chatId: string, record: ChatRecord): Promise<void> {
    setReader(record, undefined);
    const endUnread = () => {
      if (record.timer === timer) endTurn(chatId, record);
    };
    const timer = setTimeout(endUnread, WAITING_MS);
    record.timer = timer;
    unref(timer);
    if (record.chat === undefined) return;
    await readAgain(record.chat).catch(() => undefined);
    endUnread();
  }

  return {
    attach(chat) {
      const record = recordOf(chat.id);
      record.chat = chat;
      return () => {
        if (record.chat === chat) record.chat = undefined;
        forgetEmpty(chat.id);
      };
    },
    waitingTurn(chatId) {
      const { turn, timer } = records.get(chatId) ?? {};
      return timer === undefined ? undefined : turn;
    },
    async read(chatId, turn, signal) {
      const record = recordOf(chatId);
      const { turn: olderTurn, reader: olderReader } = record;
      const onAbort = () => reader.cut(signal?.reason);
      const reader = createTurnReader(turn, {
        onReset: () => awaitReader(chatId, record),
        onEnd() {
          signal?.removeEventListener('abort', onAbort);
          if (record.reader === reader) endTurn(chatId, record);
        },
      });
      setReader(record, reader);
      record.turn = turn;
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort);
      if (olderTurn !== turn) olderTurn?.end();
      if (olderReader === undefined) return reader.stream;
      olderReader.cut(new DOMException('Another reader has taken the place of this one.', 'AbortError'));
      // A task later whoever read it has seen that, and does not take it for the end of what is read next.
      await new Promise((resolve) => setTimeout(resolve));
      return reader.stream;
    },
  };
}

/** In Node a timer keeps the process alive; in a browser it is a number. */
function unref(timer: unknown): void {
  (timer as { unref?(): void }).unref?.();
}

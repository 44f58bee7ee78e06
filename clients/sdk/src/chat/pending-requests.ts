import { ParleyClientError, withTimeout } from '@parley/core';

/** The unanswered requests of one transport's chats: messages, and calls that stop a turn. */
interface PendingRequests {
  /**
   * Sends a message that begins a turn. Pending stop calls of the chat concern the previous turn: each finishes only its
   * current try, and the message waits for them. The signal of `send` is aborted by `signal` and by a later `stop`. Rejects
   * like `send`, or with the reason of that signal.
   */
  send<T>(
    chatId: string,
    signal: AbortSignal | undefined,
    send: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /**
   * Aborts the pending messages of a chat, and then asks the server to stop its turn. `requestStop` resolves with whether a
   * turn may have been stopped, and makes no further try once its signal is aborted. Resolves with false when there was neither
   * a message nor a turn.
   */
  stop(
    chatId: string,
    signal: AbortSignal | undefined,
    requestStop: (retrySignal: AbortSignal) => Promise<boolean>,
  ): Promise<boolean>;
}

interface ChatRequests {
  readonly messages: Set<AbortController>;
  /** The pending stop calls, each with a promise of its end that never rejects. */
  readonly stops: Map<AbortController, Promise<unknown>>;
}

export function createPendingRequests(): PendingRequests {
  const chats = new Map<string, ChatRequests>();

  function requestsFor(chatId: string): ChatRequests {
    const requests = chats.get(chatId) ?? { messages: new Set(), stops: new Map() };
    chats.set(chatId, requests);
    return requests;
  }

  function deleteIfEmpty(chatId: string, { messages, stops }: ChatRequests): void {
    if (messages.size === 0 && stops.size === 0) chats.delete(chatId);
  }

  return {
    async send(chatId, signal, send) {
      const requests = requestsFor(chatId);
      const message = new AbortController();
      const either = anySignal(signal, message);
      requests.messages.add(message);
      try {
        for (const retry of requests.stops.keys()) retry.abort(stopSuperseded());
        await withTimeout(Number.POSITIVE_INFINITY, either, () => Promise.all(requests.stops.values()));
        return await send(either);
      } finally {
        requests.messages.delete(message);
        deleteIfEmpty(chatId, requests);
      }
    },
    async stop(chatId, signal, requestStop) {
      const requests = requestsFor(chatId);
      const hasAborted = requests.messages.size > 0;
      for (const message of requests.messages) message.abort();
      const retry = new AbortController();
      const stopping = requestStop(anySignal(signal, retry));
      requests.stops.set(retry, Promise.allSettled([stopping]));
      try {
        return (await stopping) || hasAborted;
      } finally {
        requests.stops.delete(retry);
        deleteIfEmpty(chatId, requests);
      }
    },
  };
}

function anySignal(signal: AbortSignal | undefined, own: AbortController): AbortSignal {
  return signal === undefined ? own.signal : AbortSignal.any([signal, own.signal]);
}

function stopSuperseded(): ParleyClientError {
  return new ParleyClientError(
    'unavailable',
    'The chat has sent its next message; it is unknown whether the turn before was stopped.',
  );
}

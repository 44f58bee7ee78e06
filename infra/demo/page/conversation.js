import { Refusal } from './api.js';
import { forget, messageOf, take } from './message.js';

const RETRY_MS = 500;
const RETRIES_MAX = 20;

/**
 * One person's conversation: survives a reload (what was shown rests in sessionStorage, a turn that still runs is
 * resumed from Parley) and a broken connection (the stream goes on after its last event, on whichever pod).
 */
export function createConversation({ api, storeKey, onChange }) {
  const kept = JSON.parse(sessionStorage.getItem(storeKey) ?? 'null');
  let chatId = kept?.chatId ?? newId();
  let messages = kept?.messages ?? [];

  const running = () => messages.find(({ state }) => state === 'running');

  function changed() {
    sessionStorage.setItem(storeKey, JSON.stringify({ chatId, messages }));
    onChange();
  }

  const goesOn = (message) => message.state === 'running' && messages.includes(message);

  /** Takes events until the turn has ended; comes back for the rest when the connection breaks. */
  async function follow(message, first) {
    const progress = { retries: 0, lastEventId: undefined };
    let events = first;
    while (goesOn(message)) {
      try {
        events ??= await api.resume(chatId, progress.lastEventId);
        if (events === undefined) message.state = 'lost';
        else await takeAll(message, events, progress);
      } catch (error) {
        if (error instanceof Refusal && error.status < 500) fail(message, error.message);
      }
      events = undefined;
      if (goesOn(message)) await pause(message, ++progress.retries);
    }
    changed();
  }

  async function takeAll(message, events, progress) {
    for await (const { id, data } of events) {
      if (!goesOn(message)) return;
      progress.retries = 0;
      progress.lastEventId = id ?? progress.lastEventId;
      if (data !== '[DONE]') take(message, JSON.parse(data));
      changed();
    }
  }

  async function pause(message, retries) {
    if (retries > RETRIES_MAX) fail(message, 'The connection is gone; reload the page to look again.');
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }

  function fail(message, text) {
    message.state = 'failed';
    message.parts.push({ type: 'note', id: 'fault', text });
  }

  return {
    get messages() {
      return messages;
    },
    running,

    async say(text) {
      const message = messageOf('assistant');
      messages.push(messageOf('user', text), message);
      changed();
      try {
        await follow(message, await api.send(chatId, text));
      } catch (error) {
        if (error instanceof Refusal) fail(message, error.message);
        // Nobody knows whether it arrived: a turn that runs is found again.
        else await follow(message);
        changed();
      }
    },

    /** After a reload: a turn that still runs is told again from its start. */
    async takeUp() {
      onChange();
      const message = running();
      if (message === undefined) return;
      forget(message);
      await follow(message);
    },

    stop: () => api.stop(chatId),
    answer: (question, response) => api.answer(chatId, question, response),

    /** Notes which pod answered a call, with the newest turn. */
    notePod(what, pod) {
      const message = messages.at(-1);
      if (message?.role !== 'assistant') return;
      message.pods.push({ what, pod });
      changed();
    },

    startAnew() {
      chatId = newId();
      messages = [];
      changed();
    },
  };
}

function newId() {
  return `chat-${crypto.randomUUID()}`;
}

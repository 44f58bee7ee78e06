import { Refusal } from './api.js';
import { forget, leaveTools, messageOf, take } from './message.js';

const RETRY_MS = 500;
const RETRIES_MAX = 20;

/**
 * One conversation. It survives a reload (what was shown rests in sessionStorage, a turn that still runs is resumed from
 * Parley) and a broken connection (the stream goes on after its last event, on whichever pod).
 */
export function createConversation({ api, chatId, storeKey, onChange }) {
  const messages = JSON.parse(sessionStorage.getItem(storeKey) ?? '[]');
  const save = () => sessionStorage.setItem(storeKey, JSON.stringify(messages));
  const last = () => messages.at(-1);
  const isRunning = () => last()?.state === 'running';

  /** Takes events until the turn has ended; comes back for the rest when the connection breaks. */
  async function follow(message, first) {
    const progress = { retries: 0, lastEventId: undefined };
    let events = first;
    while (message.state === 'running') {
      try {
        events ??= await comeBack(message, progress);
        if (events === undefined) message.state = 'lost';
        else await takeAll(message, events, progress);
      } catch (error) {
        if (error instanceof Refusal && error.status < 500) fail(message, error.message);
      }
      events = undefined;
      if (message.state === 'running') await pause(message, ++progress.retries);
    }
    leaveTools(message);
    save();
    onChange();
  }

  async function comeBack(message, { lastEventId }) {
    const events = await api.resume(chatId, lastEventId);
    // Told from its start, it is told whole.
    if (events !== undefined && lastEventId === undefined) forget(message);
    return events;
  }

  async function takeAll(message, events, progress) {
    for await (const { id, data } of events) {
      progress.retries = 0;
      progress.lastEventId = id ?? progress.lastEventId;
      if (data !== '[DONE]') take(message, JSON.parse(data));
      onChange();
      if (message.state !== 'running') return;
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
    messages,
    isRunning,
    save,

    async say(text) {
      const message = messageOf('assistant');
      messages.push(messageOf('user', text), message);
      save();
      onChange();
      try {
        await follow(message, await api.send(chatId, text));
      } catch (error) {
        if (error instanceof Refusal) fail(message, error.message);
        // Nobody knows whether it arrived: a turn that runs is found again.
        else await follow(message);
        onChange();
      }
    },

    /** After a reload, or in another tab: a turn that still runs is told again from its start. */
    async takeUp() {
      if (isRunning()) return follow(last());
      const events = await api.resume(chatId).catch(() => undefined);
      if (events === undefined) return;
      const message = messageOf('assistant');
      messages.push(message);
      await follow(message, events);
    },

    async stop() {
      const message = last();
      await api.stop(chatId).catch((error) => {
        message.parts.push({ type: 'note', id: 'stop', text: `Not stopped: ${error.message}` });
        onChange();
      });
    },

    /** Notes which pod answered a call, if it was about the newest turn. */
    notePod({ what, ok, pod, ...about }) {
      const message = last();
      if (message?.role !== 'assistant') return;
      if (about.chatId !== chatId && !message.parts.some(({ id }) => id === about.elicitationId)) return;
      message.pods.push({ what: ok ? what : `${what} (refused)`, pod });
      onChange();
    },
  };
}

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
  const isRunning = () => ['running', 'waiting'].includes(last()?.state);

  /** Takes events until the turn has ended; comes back for the rest when the connection breaks. */
  async function follow(message, first) {
    message.state = 'running';
    const progress = { retries: 0, lastEventId: undefined };
    let events = first;
    while (message.state === 'running') {
      try {
        events ??= await comeBack(message, progress);
        if (events === undefined) message.state = 'lost';
        else await takeAll(message, events, progress);
      } catch (error) {
        if (isFinal(error)) fail(message, error.message);
      }
      events = undefined;
      if (message.state === 'running') await pause(message, ++progress.retries);
    }
    if (message.state !== 'waiting') leaveTools(message);
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
    else await aMoment();
  }

  /** What is told may be the turn before, when the message never arrived. */
  async function followIfNew(message) {
    await follow(message);
    if (!messages.some((other) => other !== message && other.id !== undefined && other.id === message.id))
      return;
    forget(message);
    fail(message, 'Nobody knows whether the message arrived. Look above, and send it again if it did not.');
    save();
  }

  /** Sends until it is taken: a pod that leaves, and one that is asked too much, have begun nothing. */
  async function send(text) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await api.send(chatId, text);
      } catch (error) {
        if (!beganNothing(error) || tries > RETRIES_MAX) throw error;
        await aMoment();
      }
    }
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
        await follow(message, await send(text));
      } catch (error) {
        if (isFinal(error) || beganNothing(error)) fail(message, error.message);
        // Nobody knows whether it arrived: a turn that runs is found again.
        else await followIfNew(message);
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
      // One that had ended is told again, too.
      const known = messages.findIndex(({ id }) => id !== undefined && id === message.id);
      if (messages[known] !== message) messages.splice(known, 1);
      save();
      onChange();
    },

    /** Something was answered that the turn may have waited for: it goes on, and tells more. */
    async goOn() {
      if (last()?.state === 'waiting') await follow(last());
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

function aMoment() {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS));
}

/** Refused by Parley, and asking again would not help. */
function isFinal(error) {
  return error instanceof Refusal && error.status < 500 && error.status !== 429;
}

function beganNothing(error) {
  return error instanceof Refusal && (error.status === 503 || error.status === 429);
}

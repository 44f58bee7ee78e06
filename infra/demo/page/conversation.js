import { messageOf } from './message.js';
import { createTurn } from './turn.js';

/**
 * One conversation. It survives a reload: what was shown rests in sessionStorage, and what was asked stays there with
 * its key until the answer has been told, so that it can be sent again without being asked twice, or stopped.
 */
export function createConversation({ api, chatId, storeKey, onChange }) {
  const messages = JSON.parse(sessionStorage.getItem(storeKey) ?? '[]');
  const save = () => sessionStorage.setItem(storeKey, JSON.stringify(messages));
  const last = () => messages.at(-1);
  const isRunning = () => ['running', 'waiting'].includes(last()?.state);
  let turn;

  async function tell(message, events) {
    turn = createTurn({ api, chatId, message, onPhase: save, onChange });
    await turn.tell(events);
    save();
    onChange();
  }

  /** Something was answered that the turn may have waited for: it goes on, and tells more. */
  async function goOn() {
    if (last()?.state === 'waiting') await tell(last());
  }

  return {
    messages,
    isRunning,
    save,

    async say(text) {
      const asked = { text, key: crypto.randomUUID(), at: Date.now() };
      const message = { ...messageOf('assistant'), asked, phase: 'new' };
      messages.push(messageOf('user', text), message);
      save();
      await tell(message);
    },

    /** After a reload: what was not told to its end is told again. In another tab: so is a turn that runs. */
    async takeUp() {
      const newest = last();
      if (isRunning() || newest?.state === 'unreached') return tell(newest);
      const events = await api.resume(chatId).catch(() => undefined);
      if (events === undefined) return;
      // Somebody was faster than the look: what they said is told already.
      if (last() !== newest) return leave(events);
      const message = { ...messageOf('assistant'), phase: 'begun' };
      messages.push(message);
      await tell(message, events);
      // One that had ended is told again, too.
      const known = messages.findIndex(({ id }) => id !== undefined && id === message.id);
      if (known !== -1 && messages[known] !== message) messages.splice(known, 1);
      save();
      onChange();
    },

    /** Tries once more what could not be reached. */
    async tryAgain() {
      if (last()?.state === 'unreached') await tell(last());
    },

    goOn,

    async stop() {
      // Nothing tells the end of a turn that waits.
      if (await turn.stop()) await goOn();
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

/** Only a stream that has begun to be read can be left. */
async function leave(events) {
  await events.next().catch(() => undefined);
  await events.return();
}

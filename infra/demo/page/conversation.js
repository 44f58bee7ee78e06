import { messageFrom, messageOf } from './message.js';
import { createTurn } from './turn.js';

/**
 * One conversation. It survives a reload: Parley keeps its messages, and sessionStorage what this tab adds to them. A message of the person stays there with its
 * idempotency key until its reply is complete, so that after a reload it can be sent again, or its turn be stopped.
 */
export function createConversation({ api, chatId, storeKey, onChange }) {
  const messages = JSON.parse(sessionStorage.getItem(storeKey) ?? '[]');
  let isForgotten = false;
  const save = () => isForgotten || sessionStorage.setItem(storeKey, JSON.stringify(messages));
  const last = () => messages.at(-1);
  const isRunning = () => ['running', 'waiting'].includes(last()?.state);
  let turn;
  /** Resolves when the newest reply is no longer read. */
  let reading;

  async function run(message, events) {
    turn = createTurn({ api, chatId, message, onPhase: save, onChange });
    reading = turn.run(events);
    await reading;
    save();
    onChange();
  }

  /** Takes over what was said elsewhere: in another tab, or on another device. */
  async function readHistory() {
    const history = await api.history(chatId).catch(() => undefined);
    if (history === undefined || isRunning()) return;
    const saidByPerson = (all) => all.filter(({ role }) => role === 'user').length;
    if (saidByPerson(history.messages) <= saidByPerson(messages)) return;
    messages.splice(0, messages.length, ...history.messages.map(messageFrom));
    save();
    onChange();
  }

  async function readAgain() {
    if (last()?.state === 'waiting') await run(last());
  }

  /**
   * Reads a waiting turn again, after a question that it may have waited for was answered. What is being read may be from
   * before the answer.
   */
  async function resume() {
    await reading;
    await readAgain();
  }

  return {
    chatId,
    messages,
    isRunning,
    save,

    async send(text) {
      const asked = { text, key: crypto.randomUUID(), at: Date.now() };
      const message = { ...messageOf('assistant'), asked, phase: 'new' };
      messages.push(messageOf('user', text), message);
      save();
      await run(message);
    },

    /** After a reload: reads an incomplete reply again. In another tab: finds a turn that is running. */
    async restore() {
      const newest = last();
      if (isRunning() || newest?.state === 'unreached') return run(newest);
      await readHistory();
      if (last() !== newest && isRunning()) return;
      const events = await api.resume(chatId).catch(() => undefined);
      if (events === undefined) return;
      // The person has sent a message in the meantime, and its turn is read already.
      if (isRunning()) return close(events);
      const message = { ...messageOf('assistant'), phase: 'begun' };
      messages.push(message);
      await run(message, events);
      // It may be a turn whose end is stored already.
      const known = messages.findIndex(({ id }) => id !== undefined && id === message.id);
      if (known !== -1 && messages[known] !== message) messages.splice(known, 1);
      save();
      onChange();
    },

    /** Retries a message that did not reach Parley. */
    async tryAgain() {
      if (last()?.state === 'unreached') await run(last());
    },

    resume,

    /** Saves nothing any more: the conversation was deleted. */
    forget() {
      isForgotten = true;
    },

    async stop() {
      // A waiting turn has no stream that would deliver its end.
      if (await turn.stop()) await readAgain();
    },

    /** Notes which pod replied to a call, if the call concerns the newest turn. */
    notePod({ what, ok, pod, ...about }) {
      const message = last();
      if (message?.role !== 'assistant') return;
      if (about.chatId !== chatId && !message.parts.some(({ id }) => id === about.elicitationId)) return;
      message.pods.push({ what: ok ? what : `${what} (refused)`, pod });
      onChange();
    },
  };
}

/** Closes a stream. Returning from a generator has no effect before its first step. */
async function close(events) {
  await events.next().catch(() => undefined);
  await events.return();
}

/**
 * The state of one conversation on the chat page, which survives a reload. Reading a single reply is in `turn.js`, drawing is
 * in `view.js`.
 */

import {
  adoptTools,
  endTools,
  findOpenApprovals,
  findOpenQuestion,
  messageFrom,
  messageOf,
  textOf,
} from './message.js';
import { createTurn } from './turn.js';

/**
 * One conversation. It survives a reload, because Parley stores its messages and sessionStorage what this tab adds to them. A
 * person's message stays in sessionStorage with its idempotency key until its reply is complete. After a reload it can then be
 * sent again, or its turn be stopped.
 */
export function createConversation({ api, chatId, storeKey, onChange }) {
  const messages = JSON.parse(sessionStorage.getItem(storeKey) ?? '[]');
  let isForgotten = false;
  const save = () => isForgotten || sessionStorage.setItem(storeKey, JSON.stringify(messages));
  const last = () => messages.at(-1);
  const isRunning = () => ['running', 'waiting'].includes(last()?.state);
  const isDeniable = () =>
    last()?.state === 'waiting' &&
    findOpenApprovals(last()).length > 0 &&
    findOpenQuestion(last()) === undefined;
  /** Why the newest message was refused, and its text until it is returned to the text box. */
  let refused = {};
  let turn;
  /** Resolves when the newest reply is no longer being read. */
  let reading;

  async function run(message, events) {
    const onPhase = () => {
      save();
      if (message.phase === 'begun') void endBefore();
    };
    turn = createTurn({ api, chatId, message, onPhase, onChange });
    reading = turn.run(events);
    await reading;
    if (isRefused(message) && messages.at(-3)?.state === 'waiting') return takeBack();
    if (message.state === 'stopped') void endBefore();
    save();
    onChange();
  }

  /** Marks the earlier turn as ended, as Parley stores it. It waited for approvals, which the newest message has denied. */
  async function endBefore() {
    const before = messages.slice(0, -1).find(({ state }) => state === 'waiting');
    if (before === undefined) return;
    before.state = 'finished';
    endTools(before);
    const history = await api.history(chatId).catch(() => undefined);
    const kept = history?.messages.find(({ id }) => id === before.id);
    if (kept !== undefined) adoptTools(before, messageFrom(kept));
    save();
    onChange();
  }

  /** Removes the newest message, which was refused, and reads the earlier waiting turn again. */
  function takeBack() {
    const [said, { remark }] = messages.splice(-2);
    refused = { text: textOf(said), remark };
    save();
    return readAgain();
  }

  /** Adds what was said elsewhere: in another tab, or on another device. */
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
   * Reads a waiting turn again, because a question for which it may have waited was answered. The stream being read may be
   * older than the answer.
   */
  async function resume() {
    await reading;
    await readAgain();
  }

  return {
    chatId,
    messages,
    isRunning,
    /** True if the turn waits only for approvals, so that a message denies them. */
    isDeniable,
    refusal: () => refused.remark,
    takeRefusedText() {
      const { text } = refused;
      delete refused.text;
      return text;
    },
    save,

    async send(text) {
      refused = {};
      const asked = { text, key: crypto.randomUUID(), at: Date.now() };
      const message = { ...messageOf('assistant'), asked, phase: 'new' };
      messages.push(messageOf('user', text), message);
      save();
      await run(message);
    },

    /** After a reload, continues to read an incomplete reply. In another tab, finds a running turn. */
    async restore() {
      const newest = last();
      if (isRunning() || newest?.state === 'unreached') return run(newest);
      await readHistory();
      if (last() !== newest && isRunning()) return;
      const events = await api.resume(chatId).catch(() => undefined);
      if (events === undefined) return;
      // The person has since sent a message, whose turn is already being read.
      if (isRunning()) return close(events);
      const message = { ...messageOf('assistant'), phase: 'begun' };
      messages.push(message);
      await run(message, events);
      // The stream may belong to a turn whose end is already stored.
      const known = messages.findIndex(({ id }) => id !== undefined && id === message.id);
      if (known !== -1 && messages[known] !== message) messages.splice(known, 1);
      save();
      onChange();
    },

    /** Sends a message again that did not reach Parley. */
    async tryAgain() {
      if (last()?.state === 'unreached') await run(last());
    },

    resume,

    /** Stops saving, because the conversation was deleted. */
    forget() {
      isForgotten = true;
    },

    async stop() {
      // A waiting turn has no stream that would deliver its end.
      if (await turn.stop()) await readAgain();
    },

    /** Records which pod replied to a call, if the call concerns the newest turn. */
    notePod({ what, ok, pod, ...about }) {
      const message = last();
      if (message?.role !== 'assistant') return;
      if (about.chatId !== chatId && !message.parts.some(({ id }) => id === about.elicitationId)) return;
      message.pods.push({ what: ok ? what : `${what} (refused)`, pod });
      onChange();
    },
  };
}

/** True if a message was refused and has not begun a turn. */
function isRefused({ state, phase }) {
  return (state === 'failed' && phase !== 'begun') || (state === 'unreached' && phase === 'new');
}

/** Closes a stream. Returning from a generator has no effect before its first step. */
async function close(events) {
  await events.next().catch(() => undefined);
  await events.return();
}

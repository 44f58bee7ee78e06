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
 * One conversation. It survives a reload: Parley keeps its messages, and sessionStorage what this tab adds to them. A message of the person stays there with its
 * idempotency key until its reply is complete, so that after a reload it can be sent again, or its turn be stopped.
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
  /** Why the newest message was refused, and its text until it is back in the text box. */
  let refused = {};
  let turn;
  /** Resolves when the newest reply is no longer read. */
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

  /** Ends the turn that waited before the newest message, which has denied its calls, as Parley keeps it. */
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

  /** Takes the newest message back, which was refused. What waited before it is read again. */
  function takeBack() {
    const [said, { remark }] = messages.splice(-2);
    refused = { text: textOf(said), remark };
    save();
    return readAgain();
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
    /** Whether the turn waits for approvals and nothing else: a message denies them. */
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

/** Whether a message was refused and has begun no turn. */
function isRefused({ state, phase }) {
  return (state === 'failed' && phase !== 'begun') || (state === 'unreached' && phase === 'new');
}

/** Closes a stream. Returning from a generator has no effect before its first step. */
async function close(events) {
  await events.next().catch(() => undefined);
  await events.return();
}

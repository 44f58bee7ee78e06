/**
 * Reads one reply to its end over any number of connections. The messages of the conversation and their storage are in
 * `conversation.js`.
 */

import { createRetryBudget, sleep } from '/parley-core.js';
import { addChunk, endTools, messageOf } from './message.js';
import { describe, isBusy, isFinal, isNotBegun } from './refusal.js';

/** A key is valid for a day after the end of its turn. Sending a message later than this could begin a second turn. */
const SENDABLE_MS = 12 * 3_600_000;
/** A connection that lasted for one heartbeat counts as a success, even if it delivered nothing new. */
const STABLE_MS = 15_000;
/** How long after an aborted request its turn may still begin. */
const LATE_START_MS = 2_000;
const RETRY = { firstDelayMs: 500, delayMsMax: 8_000, giveUpMs: 60_000 };

/**
 * Reads one reply to its end, despite temporary refusals, lost or idle connections, and stopping pods. The message has an
 * idempotency key, so Parley begins one turn for it, however often it is sent. `onPhase` is called for every change that must
 * survive a reload, `onChange` for every visible change.
 */
export function createTurn({ api, chatId, message, onPhase, onChange }) {
  const budget = createRetryBudget(RETRY);
  const stopping = new AbortController();
  let lastEventId;

  function enter(phase) {
    message.phase = phase;
    onPhase();
  }

  /** Opens a connection, or uses `first`, and reads it to its end. */
  async function readConnection(first) {
    const events = first ?? (await open());
    if (stopping.signal.aborted) return;
    if (events === undefined) {
      message.state = 'lost';
      return;
    }
    enter('begun');
    const openedAt = Date.now();
    try {
      await readEvents(events);
    } finally {
      if (Date.now() - openedAt > STABLE_MS) budget.reset();
    }
  }

  async function open() {
    const { asked, phase } = message;
    const isSendable = asked !== undefined && Date.now() - asked.at < SENDABLE_MS;
    if (!isSendable) return api.resume(chatId, stopping.signal);
    if (phase === 'new') enter('sent');
    try {
      return await api.send(chatId, asked, stopping.signal);
    } catch (error) {
      if (phase === 'new' && message.phase === 'sent' && isNotBegun(error)) enter('new');
      throw error;
    }
  }

  /**
   * Every connection replays the turn from its start. The replay is shown only when it has caught up with what is displayed, so
   * that a card that is being filled in stays in place.
   */
  async function readEvents(events) {
    const replay = messageOf('assistant');
    let isCatchingUp = lastEventId !== undefined;
    for await (const { id, data } of events) {
      if (data !== '[DONE]') addChunk(replay, JSON.parse(data));
      isCatchingUp &&= replay.state === 'running' && isBefore(id, lastEventId);
      if (isOtherTurn(replay)) message.state = 'lost';
      else if (!isCatchingUp) show(replay, id);
      if (message.state !== 'running') return;
    }
  }

  function show({ id, parts, state }, eventId) {
    Object.assign(message, { id, parts, state });
    if (eventId !== lastEventId) budget.reset();
    lastEventId = eventId;
    onChange();
  }

  /** True if the stream belongs to a later turn of the conversation. */
  function isOtherTurn({ id }) {
    return ![id, message.id].includes(undefined) && id !== message.id;
  }

  /** Ends the message after a final refusal, or when the retry budget is used up. Otherwise waits before the next try. */
  async function onFailure(error) {
    if (message.phase === 'stopping') return;
    if (isFinal(error)) return end('failed', error.message);
    const delayMs = isBusy(error) ? undefined : budget.nextDelayMs(error?.retryAfterSeconds);
    if (delayMs === undefined) end('unreached', describe(error, 'The agent could not be reached.'));
    else await pause(delayMs, stopping.signal);
  }

  /** Stops a turn that may have begun although none of its events arrived. The message is not sent again. */
  async function stopUnseen() {
    try {
      const wasRunning = await api.stop(chatId).catch(() => false);
      if (!wasRunning) {
        await pause(LATE_START_MS);
        await api.stop(chatId);
      }
      message.state = 'stopped';
    } catch (error) {
      end('unreached', notStopped(error));
    }
  }

  async function stopBegun() {
    try {
      await api.stop(chatId);
      delete message.remark;
      return true;
    } catch (error) {
      message.remark = notStopped(error);
      return false;
    } finally {
      onChange();
    }
  }

  function end(state, remark) {
    Object.assign(message, { state, remark });
  }

  return {
    /**
     * Resolves when the message has ended, waits for the person, or could not be delivered. `first` contains its first events.
     */
    async run(first) {
      let events = first;
      message.state = 'running';
      delete message.remark;
      onChange();
      while (message.state === 'running') {
        if (message.phase === 'stopping') await stopUnseen();
        else {
          const error = await readConnection(events).catch((caught) => caught);
          if (message.state === 'running') await onFailure(error);
        }
        events = undefined;
      }
      if (message.state === 'unreached') return;
      if (message.state !== 'waiting') endTools(message);
      // A waiting turn can be found without its message.
      delete message.asked;
    },

    /** Stops the turn, or the sending of its message. Resolves to true if the end of a running turn must still be read. */
    async stop() {
      if (message.phase === 'begun') return stopBegun();
      if (message.phase === 'new') message.state = 'stopped';
      else enter('stopping');
      stopping.abort();
      return false;
    },
  };
}

/** True if an event precedes another in the same feed. Ids are `<epoch>-<number>`. */
function isBefore(id, last) {
  if (id === undefined) return true;
  const [epoch, number] = id.split('-');
  const [lastEpoch, lastNumber] = last.split('-');
  return epoch === lastEpoch && Number(number) < Number(lastNumber);
}

function notStopped(error) {
  return `Not stopped: ${describe(error, 'the connection is gone.')}`;
}

/** Resolves after that time, or as soon as the signal is aborted. */
function pause(ms, signal) {
  return sleep(ms, signal).catch(() => undefined);
}

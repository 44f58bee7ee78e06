import { leaveTools, messageOf, take } from './message.js';
import { createPatience, pause } from './patience.js';
import { isBusy, isFinal, isUnbegun, wordsOf } from './refusal.js';

/** A key holds for a day after its turn has ended: what is older than this could begin another turn if it were sent. */
const SENDABLE_MS = 12 * 3_600_000;
/** A connection that lasted from one heartbeat to the next went well, also when it told nothing new. */
const LASTING_MS = 15_000;
/** What was under way when it was cut may begin a little later. */
const LATE_MS = 2_000;

/**
 * Has a message told to its end: through refusals that pass, connections that break or fall silent, and pods that go
 * away. What was asked has a key: it may be sent again and again, Parley begins one turn for it. `onPhase` is called
 * when there is news that must survive a reload, `onChange` when there is something to show.
 */
export function createTurn({ api, chatId, message, onPhase, onChange }) {
  const patience = createPatience();
  const cutting = new AbortController();
  let lastEventId;

  function enter(phase) {
    message.phase = phase;
    onPhase();
  }

  async function listen(first) {
    const events = first ?? (await ask());
    if (cutting.signal.aborted) return;
    if (events === undefined) {
      message.state = 'lost';
      return;
    }
    enter('begun');
    const since = Date.now();
    try {
      await takeAll(events);
    } finally {
      if (Date.now() - since > LASTING_MS) patience.reset();
    }
  }

  async function ask() {
    const { asked, phase } = message;
    const isSendable = asked !== undefined && Date.now() - asked.at < SENDABLE_MS;
    if (!isSendable) return api.resume(chatId, cutting.signal);
    if (phase === 'new') enter('sent');
    try {
      return await api.send(chatId, asked, cutting.signal);
    } catch (error) {
      if (phase === 'new' && message.phase === 'sent' && isUnbegun(error)) enter('new');
      throw error;
    }
  }

  /** What is told again is shown once it has come as far as before: a card that is being filled in stays in place. */
  async function takeAll(events) {
    const told = messageOf('assistant');
    let isBehind = lastEventId !== undefined;
    for await (const { id, data } of events) {
      if (data !== '[DONE]') take(told, JSON.parse(data));
      isBehind &&= told.state === 'running' && isBefore(id, lastEventId);
      if (isAnother(told)) message.state = 'lost';
      else if (!isBehind) show(told, id);
      if (message.state !== 'running') return;
    }
  }

  function show({ id, parts, state }, eventId) {
    Object.assign(message, { id, parts, state });
    if (eventId !== lastEventId) patience.reset();
    lastEventId = eventId;
    onChange();
  }

  /** True when the conversation has gone on, and tells of a later turn. */
  function isAnother({ id }) {
    return ![id, message.id].includes(undefined) && id !== message.id;
  }

  async function endure(error) {
    if (message.phase === 'stopping') return;
    if (isFinal(error)) return end('failed', error.message);
    const ms = isBusy(error) ? undefined : patience.next(error?.retryAfterMs);
    if (ms === undefined) end('unreached', wordsOf(error, 'The agent could not be reached.'));
    else await pause(ms, cutting.signal);
  }

  /** Ends what was never told: it is not sent again, and what may have begun unseen is stopped. */
  async function leave() {
    try {
      const wasRunning = await api.stop(chatId).catch(() => false);
      if (!wasRunning) {
        await pause(LATE_MS);
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
    /** Resolves once the message has ended, waits for the person, or could not be reached; `first` are its events. */
    async tell(first) {
      let events = first;
      message.state = 'running';
      delete message.remark;
      onChange();
      while (message.state === 'running') {
        if (message.phase === 'stopping') await leave();
        else {
          const error = await listen(events).catch((caught) => caught);
          if (message.state === 'running') await endure(error);
        }
        events = undefined;
      }
      if (message.state === 'unreached') return;
      if (message.state !== 'waiting') leaveTools(message);
      // One that waits is found without it.
      delete message.asked;
    },

    /** Has it end soon, if need be by not sending it again. True when something else has to tell of its end. */
    async stop() {
      if (message.phase === 'begun') return stopBegun();
      if (message.phase === 'new') message.state = 'stopped';
      else enter('stopping');
      cutting.abort();
      return false;
    },
  };
}

/** True for an event that comes before that one in the same feed. Ids are `<epoch>-<number>`. */
function isBefore(id, last) {
  if (id === undefined) return true;
  const [epoch, number] = id.split('-');
  const [lastEpoch, lastNumber] = last.split('-');
  return epoch === lastEpoch && Number(number) < Number(lastNumber);
}

function notStopped(error) {
  return `Not stopped: ${wordsOf(error, 'the connection is gone.')}`;
}

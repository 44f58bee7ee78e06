import { Refusal } from './api.js';
import { leaveTools, messageOf, note, take } from './message.js';
import { createPatience, pause } from './patience.js';

/** Refusals that pass; whoever gets one knows that nothing was begun. */
const PASSING = [408, 429, 503];

/**
 * Has a message told to its end: through refusals that pass, connections that break or fall silent, and pods that go
 * away. What was asked has a key: it may be sent again and again, Parley begins one turn for it. `isNew` when it was
 * never sent before.
 */
export function createTurn({ api, chatId, message, isNew = false, onChange }) {
  const { asked } = message;
  const patience = createPatience();
  const stopping = new AbortController();
  // What was asked elsewhere runs already.
  let isTaken = asked === undefined;
  let mayHaveBegun = !isNew;
  let lastEventId;

  async function listen(first) {
    const events = first ?? (await (asked === undefined ? api.resume(chatId) : api.send(chatId, asked)));
    if (events === undefined) {
      message.state = 'lost';
      return;
    }
    if (stopping.signal.aborted && !isTaken) void stopIt();
    isTaken = true;
    await takeAll(events);
  }

  /** What is told again is shown once it has come as far as before: a card that is being filled in stays in place. */
  async function takeAll(events) {
    const told = messageOf('assistant');
    let isBehind = lastEventId !== undefined;
    for await (const { id, data } of events) {
      if (data !== '[DONE]') take(told, JSON.parse(data));
      isBehind &&= told.state === 'running' && isBefore(id, lastEventId);
      if (isBehind) continue;
      Object.assign(message, { id: told.id, parts: told.parts, state: told.state });
      lastEventId = id;
      patience.reset();
      onChange();
      if (message.state !== 'running') return;
    }
  }

  async function endure(error) {
    if (isFinal(error)) return fail(error.message);
    mayHaveBegun ||= !PASSING.includes(error?.status);
    const ms = patience.next(error?.retryAfterMs);
    if (ms === undefined) message.state = 'unreached';
    else await pause(ms, isTaken ? undefined : stopping.signal);
  }

  /** Ends what was never answered: it is not sent again, and what may have begun unseen is stopped. */
  async function leave() {
    try {
      if (mayHaveBegun) await api.stop(chatId);
      message.state = 'stopped';
    } catch (error) {
      fail(notStopped(error));
    }
  }

  async function stopIt() {
    try {
      await api.stop(chatId);
    } catch (error) {
      note(message, 'stop', notStopped(error));
      onChange();
    }
  }

  function fail(text) {
    message.state = 'failed';
    note(message, 'fault', text);
  }

  return {
    /** Resolves once the message has ended, waits for the person, or could not be reached; `first` are its events. */
    async tell(first) {
      let events = first;
      message.state = 'running';
      onChange();
      while (message.state === 'running') {
        if (stopping.signal.aborted && !isTaken) await leave();
        else {
          const error = await listen(events).catch((caught) => caught);
          if (message.state === 'running') await endure(error);
        }
        events = undefined;
      }
      if (['waiting', 'unreached'].includes(message.state)) return;
      leaveTools(message);
      delete message.asked;
    },

    /** Has it end soon; as long as nobody has taken it, by not sending it again. */
    async stop() {
      stopping.abort();
      if (isTaken) await stopIt();
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

/** Refused by Parley, and asking again would not help. */
function isFinal(error) {
  return error instanceof Refusal && error.status < 500 && !PASSING.includes(error.status);
}

function notStopped(error) {
  return `Not stopped: ${error instanceof Refusal ? error.message : 'the connection is gone.'}`;
}

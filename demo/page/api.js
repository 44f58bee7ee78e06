import {
  createTransport,
  isParleyClientError,
  openResponse,
  RETRY_DEFAULTS,
  readEventStream,
} from '/parley-core.js';

/** Three heartbeats of Parley's streams, which come every 15 s. */
const IDLE_TIMEOUT_MS = 45_000;
const RETRY = { ...RETRY_DEFAULTS, attemptMs: IDLE_TIMEOUT_MS };

/**
 * Parley's chat API for one person. `onPod` is called with what each call did, for which chat or question, and which pod
 * replied: the demo's load balancer names it in a header.
 */
export function createApi({ token, onPod }) {
  async function fetchNoted(about, input, init) {
    const response = await fetch(input, init);
    const pod = response.headers.get('x-parley-upstream');
    const what = response.headers.has('idempotent-replayed') ? 'resumed' : about.what;
    if (pod !== null) onPod({ ...about, what, pod, ok: response.ok });
    return response;
  }

  function transportFor(about) {
    const fetch = (input, init) => fetchNoted(about, input, { ...init, cache: 'no-store' });
    return createTransport({ root: '', token, fetch, retry: RETRY });
  }

  const open = (about, call, signal) => openResponse(transportFor(about), call, signal);

  return {
    /**
     * Sends a message. Yields the events of its turn from the first, however often it is sent under the same key.
     * `x-supports-elicitation` states that this page can show questions. The signal ends the connection.
     */
    async send(chatId, { text, key }, signal) {
      const body = { id: chatId, messages: [{ role: 'user', parts: [{ type: 'text', text }] }] };
      const headers = { 'x-supports-elicitation': 'true', 'idempotency-key': key };
      const call = { method: 'POST', path: '/run/api/chat', body, headers };
      return eventsOf(await open({ what: 'asked', chatId }, call, signal), signal);
    },

    /** Yields the events of the chat's running or waiting turn from the first; nothing when there is none. */
    async resume(chatId, signal) {
      const call = { method: 'GET', path: `/run/api/chat/${chatId}/stream` };
      const opened = await open({ what: 'resumed', chatId }, call, signal);
      return opened.response.status === 204 ? undefined : eventsOf(opened, signal);
    },

    /** Stops the running turn. False when none is running. */
    async stop(chatId) {
      const call = { method: 'POST', path: `/run/api/chat/${chatId}/stop`, body: {} };
      const { stopped } = await transportFor({ what: 'stopped', chatId }).attempt(call, IDLE_TIMEOUT_MS);
      return stopped;
    },

    /** The messages of a chat as Parley keeps them, and whether a turn runs. Undefined for a new chat. */
    async history(chatId) {
      const call = { method: 'GET', path: `/run/api/chat/${chatId}/messages` };
      try {
        return await transportFor({ what: 'read', chatId: undefined }).attempt(call, IDLE_TIMEOUT_MS);
      } catch (error) {
        if (isParleyClientError(error, 'not_found')) return undefined;
        throw error;
      }
    },

    /** The person's chats, the one with the latest message first. */
    async list() {
      const call = { method: 'GET', path: '/run/api/chats' };
      return (await transportFor({ what: 'listed', chatId: undefined }).attempt(call, IDLE_TIMEOUT_MS))
        .conversations;
    },

    /** Gives a chat another title. Returns the title as Parley keeps it. */
    rename(chatId, title) {
      const call = { method: 'PATCH', path: `/run/api/chats/${chatId}`, body: { title } };
      return transportFor({ what: 'renamed', chatId: undefined }).attempt(call, IDLE_TIMEOUT_MS);
    },

    /** Removes a chat with all that belongs to it. One that is gone already is no error. */
    async remove(chatId) {
      const call = { method: 'DELETE', path: `/run/api/chats/${chatId}` };
      try {
        await transportFor({ what: 'deleted', chatId: undefined }).attempt(call, IDLE_TIMEOUT_MS);
      } catch (error) {
        if (!isParleyClientError(error, 'not_found')) throw error;
      }
    },

    /** The fetch of the cards. Only what the person did is noted. */
    widgetFetch(input, init) {
      const [, elicitationId] = /\/elicitations\/([^/]+)\/response$/.exec(String(input)) ?? [];
      if (elicitationId === undefined) return fetch(input, init);
      return fetchNoted({ what: deedOf(JSON.parse(init.body)), elicitationId }, input, init);
    },
  };
}

const DEEDS = { decline: 'declined', cancel: 'dismissed' };

/** Agreeing to open a page is no answer yet. */
function deedOf({ action, content }) {
  return DEEDS[action] ?? (content === undefined ? 'agreed' : 'answered');
}

/** The events of a response. `id` is that of the last event that had one. Ends the connection when the loop ends. */
async function* eventsOf({ response, close }, signal) {
  let lastId;
  try {
    for await (const { id = lastId, data } of readEventStream(response, {
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      signal,
    })) {
      lastId = id;
      yield { id, data };
    }
  } finally {
    close();
  }
}

/**
 * The calls of the chat page to Parley's API, without any state of the page. When a call is repeated is decided in `turn.js`.
 */

import {
  createTransport,
  isParleyClientError,
  openResponse,
  RETRY_DEFAULTS,
  readEventStream,
} from '/parley-core.js';

/** The time of three heartbeats, which Parley's streams send every 15 s. */
const IDLE_TIMEOUT_MS = 45_000;
const RETRY = { ...RETRY_DEFAULTS, attemptMs: IDLE_TIMEOUT_MS };

/**
 * Parley's chat API for one person. `onPod` is called with the purpose of each call, its chat or question, and the pod that
 * replied. The demo's load balancer names the pod in a header.
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
     * Sends a message. Yields the events of its turn from the first one, however often it is sent with the same key.
     * `x-supports-elicitation` states that this page can show questions. Aborting the signal closes the connection.
     */
    async send(chatId, { text, key }, signal) {
      const body = { id: chatId, messages: [{ role: 'user', parts: [{ type: 'text', text }] }] };
      const headers = { 'x-supports-elicitation': 'true', 'idempotency-key': key };
      const call = { method: 'POST', path: '/run/api/chat', body, headers };
      return eventsOf(await open({ what: 'asked', chatId }, call, signal), signal);
    },

    /** Yields the events of the chat's running or waiting turn from the first one; none if there is no such turn. */
    async resume(chatId, signal) {
      const call = { method: 'GET', path: `/run/api/chat/${chatId}/stream` };
      const opened = await open({ what: 'resumed', chatId }, call, signal);
      return opened.response.status === 204 ? undefined : eventsOf(opened, signal);
    },

    /** Stops the running turn. Resolves to false if none is running. */
    async stop(chatId) {
      const call = { method: 'POST', path: `/run/api/chat/${chatId}/stop`, body: {} };
      const { stopped } = await transportFor({ what: 'stopped', chatId }).attempt(call, IDLE_TIMEOUT_MS);
      return stopped;
    },

    /** The messages of a chat that Parley stores, and whether a turn runs. Undefined for a new chat. */
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

    /** Renames a chat. Returns the title that Parley stored. */
    rename(chatId, title) {
      const call = { method: 'PATCH', path: `/run/api/chats/${chatId}`, body: { title } };
      return transportFor({ what: 'renamed', chatId: undefined }).attempt(call, IDLE_TIMEOUT_MS);
    },

    /** Deletes a chat with everything that belongs to it. A chat that no longer exists is not an error. */
    async remove(chatId) {
      const call = { method: 'DELETE', path: `/run/api/chats/${chatId}` };
      try {
        await transportFor({ what: 'deleted', chatId: undefined }).attempt(call, IDLE_TIMEOUT_MS);
      } catch (error) {
        if (!isParleyClientError(error, 'not_found')) throw error;
      }
    },

    /** The fetch for the cards. Only actions of the person are reported. */
    widgetFetch(input, init) {
      const [, elicitationId] = /\/elicitations\/([^/]+)\/response$/.exec(String(input)) ?? [];
      if (elicitationId === undefined) return fetch(input, init);
      return fetchNoted({ what: deedOf(JSON.parse(init.body)), elicitationId }, input, init);
    },
  };
}

const DEEDS = { decline: 'declined', cancel: 'dismissed' };

/** Consent to open a page is not yet an answer. */
function deedOf({ action, content }) {
  return DEEDS[action] ?? (content === undefined ? 'agreed' : 'answered');
}

/** The events of a response. `id` is that of the last event that had one. When the loop ends, the connection is closed. */
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

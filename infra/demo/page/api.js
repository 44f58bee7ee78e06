import { eventsOf } from './event-stream.js';

/** What Parley refused, in its own words; `errors` name the fields of a form. */
export class Refusal extends Error {
  constructor(status, { detail, code, errors = [] }) {
    super(detail ?? `The server answered with ${status}.`);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

/**
 * Parley's chat API for one person. Every call tells `onPod` what it did and which pod answered it; a header of the
 * demo's load balancer says so.
 */
export function createApi({ token, onPod }) {
  async function call(what, path, { headers, ...init } = {}) {
    const response = await fetch(path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...headers },
      cache: 'no-store',
    });
    const pod = response.headers.get('x-parley-upstream');
    if (pod !== null) onPod(response.ok ? what : `${what} (refused)`, pod);
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({}));
    throw new Refusal(response.status, problem);
  }

  const post = (what, path, body, more = {}) =>
    call(what, path, {
      method: 'POST',
      body: JSON.stringify(body),
      ...more,
      headers: { 'content-type': 'application/json', ...more.headers },
    });

  return {
    /** One turn. Yields its events; `x-supports-elicitation` says that this page can show questions. */
    async send(chatId, text) {
      const messages = [{ role: 'user', parts: [{ type: 'text', text }] }];
      const headers = { 'x-supports-elicitation': 'true' };
      return eventsOf(await post('asked', '/run/api/chat', { id: chatId, messages }, { headers }));
    },

    /** The running turn again, after that event or from its start; nothing when none runs. */
    async resume(chatId, lastEventId) {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      const response = await call('resumed', `/run/api/chat/${chatId}/stream`, { headers });
      return response.status === 204 ? undefined : eventsOf(response);
    },

    async stop(chatId) {
      await post('stopped', `/run/api/chat/${chatId}/stop`, {});
    },

    /** Outlives the page: whoever opens a link leaves for another tab. */
    async answer(chatId, { elicitationId, respondUrl }, response) {
      const body = { conversationId: chatId, elicitationId, ...response };
      await post('answered', respondUrl, body, { keepalive: true });
    },
  };
}

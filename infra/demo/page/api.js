import { eventsOf } from './event-stream.js';

/** What Parley refused, in its own words. */
export class Refusal extends Error {
  constructor(status, detail = `The server answered with ${status}.`) {
    super(detail);
    this.status = status;
  }
}

/**
 * Parley's chat API for one person. `onPod` is told what each call did, in which chat or for which question, and which
 * pod answered it: a header of the demo's load balancer says so.
 */
export function createApi({ token, onPod }) {
  async function noted(about, path, init) {
    const response = await fetch(path, init);
    const pod = response.headers.get('x-parley-upstream');
    if (pod !== null) onPod({ ...about, pod, ok: response.ok });
    return response;
  }

  async function call(about, path, { headers, ...init } = {}) {
    const response = await noted(about, path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...headers },
      cache: 'no-store',
    });
    if (response.ok) return response;
    const { detail } = await response.json().catch(() => ({}));
    throw new Refusal(response.status, detail);
  }

  const post = (about, path, body, headers) =>
    call(about, path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  return {
    /** One turn. Yields its events; `x-supports-elicitation` says that this page can show questions. */
    async send(chatId, text) {
      const messages = [{ role: 'user', parts: [{ type: 'text', text }] }];
      const headers = { 'x-supports-elicitation': 'true' };
      return eventsOf(
        await post({ what: 'asked', chatId }, '/run/api/chat', { id: chatId, messages }, headers),
      );
    },

    /** The running turn again, after that event or from its start; nothing when none runs. */
    async resume(chatId, lastEventId) {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
      const response = await call({ what: 'resumed', chatId }, `/run/api/chat/${chatId}/stream`, { headers });
      return response.status === 204 ? undefined : eventsOf(response);
    },

    async stop(chatId) {
      await post({ what: 'stopped', chatId }, `/run/api/chat/${chatId}/stop`, {});
    },

    /** What the cards call with: answers are noted as well, looking is not. */
    widgetFetch(input, init) {
      const [, elicitationId] = /\/elicitations\/([^/]+)\/response$/.exec(String(input)) ?? [];
      if (elicitationId === undefined) return fetch(input, init);
      return noted({ what: 'answered', elicitationId }, input, init);
    },
  };
}

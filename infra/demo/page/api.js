import { eventsOf } from './event-stream.js';
import { unlessSilent } from './silence.js';

/** What Parley refused, in its own words; `retryAfterMs` is there when it said so. */
export class Refusal extends Error {
  constructor(status, detail = `The server answered with ${status}.`, retryAfterMs) {
    super(detail);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
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
    const what = response.headers.has('idempotent-replayed') ? 'resumed' : about.what;
    if (pod !== null) onPod({ ...about, what, pod, ok: response.ok });
    return response;
  }

  async function call(about, path, { headers, ...init } = {}) {
    const leaving = new AbortController();
    const options = {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...headers },
      cache: 'no-store',
      signal: leaving.signal,
    };
    try {
      const response = await unlessSilent(noted(about, path, options));
      if (response.ok) return response;
      const { detail } = await unlessSilent(response.json()).catch(() => ({}));
      throw new Refusal(response.status, detail, retryAfterOf(response));
    } catch (error) {
      leaving.abort();
      throw error;
    }
  }

  const post = (about, path, body, headers) =>
    call(about, path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  return {
    /**
     * One turn. Yields its events, from the first, however often the same message is sent under the same key.
     * `x-supports-elicitation` says that this page can show questions.
     */
    async send(chatId, { text, key }) {
      const messages = [{ role: 'user', parts: [{ type: 'text', text }] }];
      const headers = { 'x-supports-elicitation': 'true', 'idempotency-key': key };
      return eventsOf(
        await post({ what: 'asked', chatId }, '/run/api/chat', { id: chatId, messages }, headers),
      );
    },

    /** The running turn from its start, whoever began it; nothing when none runs. */
    async resume(chatId) {
      const response = await call({ what: 'resumed', chatId }, `/run/api/chat/${chatId}/stream`);
      return response.status === 204 ? undefined : eventsOf(response);
    },

    /** Stops the running turn; nothing happens when none runs. */
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

/** In ms; nothing unless the header tells seconds, as Parley's does. */
function retryAfterOf({ headers }) {
  const seconds = Number.parseInt(headers.get('retry-after'), 10);
  return seconds >= 0 ? seconds * 1_000 : undefined;
}

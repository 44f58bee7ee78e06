import { eventsOf } from './event-stream.js';
import { Refusal } from './refusal.js';
import { unlessSilent } from './silence.js';

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

  async function call(about, path, { headers, signal, ...init } = {}) {
    const leaving = new AbortController();
    const options = {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...headers },
      cache: 'no-store',
      signal: AbortSignal.any([leaving.signal, signal ?? leaving.signal]),
    };
    try {
      const response = await unlessSilent(noted(about, path, options));
      if (response.ok) return response;
      const problem = await unlessSilent(response.json()).catch(() => undefined);
      throw new Refusal(response.status, problem, retryAfterOf(response));
    } catch (error) {
      leaving.abort();
      throw error;
    }
  }

  const post = (about, path, body, { headers, signal } = {}) =>
    call(about, path, {
      method: 'POST',
      body: JSON.stringify(body),
      signal,
      headers: { 'content-type': 'application/json', ...headers },
    });

  return {
    /**
     * One turn. Yields its events, from the first, however often the same message is sent under the same key.
     * `x-supports-elicitation` says that this page can show questions. The signal cuts it.
     */
    async send(chatId, { text, key }, signal) {
      const messages = [{ role: 'user', parts: [{ type: 'text', text }] }];
      const headers = { 'x-supports-elicitation': 'true', 'idempotency-key': key };
      return eventsOf(
        await post({ what: 'asked', chatId }, '/run/api/chat', { id: chatId, messages }, { headers, signal }),
      );
    },

    /** The turn that runs, or waited, from its start, whoever began it; nothing when there is none. */
    async resume(chatId, signal) {
      const response = await call({ what: 'resumed', chatId }, `/run/api/chat/${chatId}/stream`, { signal });
      return response.status === 204 ? undefined : eventsOf(response);
    },

    /** Stops the running turn. False when none runs. */
    async stop(chatId) {
      const response = await post({ what: 'stopped', chatId }, `/run/api/chat/${chatId}/stop`, {});
      const { stopped } = await unlessSilent(response.json());
      return stopped;
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

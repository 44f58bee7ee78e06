/**
 * The fetch for models, with time limits that suit reasoning models. Rewriting deviating event streams is in `chat-events.ts`.
 */

import { Agent, type Dispatcher, EnvHttpProxyAgent, fetch as fetchBy } from 'undici';
import type { ModelTimeouts } from '../../config/models.ts';
import type { ChatEvents } from './chat-events.ts';

/**
 * A model was silent for longer than its configuration allows. The request is never repeated, because each request may cost
 * money.
 */
export class ModelSilent extends Error {
  constructor(limit: keyof ModelTimeouts, seconds: number) {
    super(`${REASONS[limit]} ${seconds} s (\`timeouts.${limit}\`)`);
    this.name = 'ModelSilent';
  }
}

const REASONS: Readonly<Record<keyof ModelTimeouts, string>> = {
  firstByteSeconds: 'nothing came within',
  silenceSeconds: 'its reply paused for',
  replySeconds: 'its reply was not whole within',
};

interface ModelFetchOptions {
  readonly timeouts: ModelTimeouts;
  /** True if the proxy is taken from the environment. */
  readonly usesProxy: boolean;
  /** Makes the rewriter for replies that are event streams. */
  readonly eventsOf?: (() => ChatEvents) | undefined;
}

/**
 * A fetch with the time limits of a model. They replace Node's own, which end a reply after five minutes of silence: reasoning
 * models are silent for longer.
 */
export function createModelFetch({ timeouts, usesProxy, eventsOf }: ModelFetchOptions): typeof fetch {
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  const agent = usesProxy ? new EnvHttpProxyAgent(limits) : new Agent(limits);
  const dispatcher = agent.compose(
    (dispatch) => (options, handler) =>
      dispatch(options, patient(eventsOf === undefined ? handler : rewriting(handler, eventsOf()), timeouts)),
  );
  return async (input, init) => {
    try {
      return (await fetchBy(input as string, { ...(init as object), dispatcher })) as unknown as Response;
    } catch (error) {
      throw error instanceof Error && error.cause instanceof ModelSilent ? error.cause : error;
    }
  };
}

/** Ends the request if its model is silent, or takes too long in total. */
function patient(handler: Dispatcher.DispatchHandler, timeouts: ModelTimeouts): Dispatcher.DispatchHandler {
  const timers = new Map<keyof ModelTimeouts, NodeJS.Timeout>();

  function start(limit: keyof ModelTimeouts, controller: Dispatcher.DispatchController): void {
    const end = () => controller.abort(new ModelSilent(limit, timeouts[limit]));
    timers.set(limit, setTimeout(end, timeouts[limit] * 1_000));
  }

  function stop(): void {
    for (const timer of timers.values()) clearTimeout(timer);
  }

  return {
    onRequestStart(controller, context) {
      start('firstByteSeconds', controller);
      start('replySeconds', controller);
      handler.onRequestStart?.(controller, context);
    },
    onResponseStart(controller, status, headers, statusText) {
      handler.onResponseStart?.(controller, status, headers, statusText);
    },
    onResponseData(controller, chunk) {
      clearTimeout(timers.get('firstByteSeconds'));
      if (timers.has('silenceSeconds')) timers.get('silenceSeconds')?.refresh();
      else start('silenceSeconds', controller);
      handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd(controller, trailers) {
      stop();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError(controller, error) {
      stop();
      handler.onResponseError?.(controller, error);
    },
  };
}

/** Passes the body of an event stream through `events`. */
function rewriting(handler: Dispatcher.DispatchHandler, events: ChatEvents): Dispatcher.DispatchHandler {
  let isStream = false;
  return {
    onRequestStart: (...given) => handler.onRequestStart?.(...given),
    onResponseStart(controller, status, headers, statusText) {
      const isEvents = String(headers['content-type']).startsWith('text/event-stream');
      // A compressed stream passes unchanged.
      isStream = status === 200 && isEvents && headers['content-encoding'] === undefined;
      handler.onResponseStart?.(controller, status, headers, statusText);
    },
    onResponseData(controller, chunk) {
      const bytes = isStream ? events.push(chunk) : chunk;
      if (bytes.length > 0) handler.onResponseData?.(controller, bytes);
    },
    onResponseEnd(controller, trailers) {
      const rest = events.end();
      if (rest.length > 0) handler.onResponseData?.(controller, rest);
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (...given) => handler.onResponseError?.(...given),
  };
}

/**
 * Posts runs to AG-UI agents and reads their events safely. What the events mean is decided in `thread.ts` and `run-task.ts`.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { visibleLabels } from '@parley/core/domain/visible';
import { CredentialRefused } from '../mcp/errors.ts';
import { createScrubFor, type Scrub } from '../mcp/scrub.ts';
import { createEventSplitter, dataOf } from '../mcp/transports/events.ts';
import { type Exchange, raceAbort, startExchange } from '../mcp/transports/exchange.ts';
import { createHttpFetch, type HttpFetch } from '../mcp/transports/http-fetch.ts';
import { type CalledFor, personHeaders } from '../remote/called-agent.ts';
import { guardEvents } from '../remote/event-guard.ts';
import { faultOf, RemoteFault } from '../remote/faults.ts';
import type { AgUiAgentTarget } from './ag-ui-agent.ts';
import { MalformedRun, type ReadEvent, readAgUiEvent } from './events.ts';

/** An AG-UI agent, called with one credential. */
export interface AgUiLink {
  readonly agent: AgUiAgentTarget;
  /**
   * Posts a run, and reads its events until the run or the connection ends. Throws RemoteFault, MalformedRun and the reason of
   * an aborted signal. Stopping earlier closes the connection, which cancels the run in AG-UI.
   */
  run(input: object, signal: AbortSignal): AsyncGenerator<ReadEvent, void>;
  /** Removes from the agent's texts the secrets that were sent to it. */
  readonly scrub: Scrub;
}

/** The AG-UI agents of a pod. */
export interface AgUiAgents {
  /** Opens the agent for a person, with the headers of the person's credential in addition to the agent's own. */
  open(agent: AgUiAgentTarget, person: CalledFor): AgUiLink;
  close(): void;
}

interface AgUiAgentsOptions {
  /** Called for each reply that rejects the credential. */
  readonly onUnauthorized?: (agent: string, status: 401 | 403) => void;
}

/** The time limit of a request. A run may take as long as the task, whose own time limit ends it earlier. */
const RUN_MS = 86_400_000;
/** The limit of JSON values in one event: many times those of the largest thread that is kept. */
const VALUES_MAX = 50_000;
/** The limit of events in one run, including ignored ones. */
const EVENTS_MAX = 50_000;

const ENDS: ReadonlySet<string> = new Set(['RUN_FINISHED', 'RUN_ERROR']);
/** How long an agent may keep its reply open after the run has ended, in ms. */
const LINGER_MS = 5_000;

export function createAgUiAgents({ onUnauthorized = () => undefined }: AgUiAgentsOptions = {}): AgUiAgents {
  const exchanges = new AsyncLocalStorage<Exchange>();
  const sockets = new Map<string, HttpFetch>();

  function socketsOf({ id, url, messageBytesMax }: AgUiAgentTarget): HttpFetch {
    const known = sockets.get(id);
    if (known !== undefined) return known;
    const bounds = { bytesMax: messageBytesMax, valuesMax: VALUES_MAX };
    const made = createHttpFetch({ origin: new URL(url).origin, bounds, exchanges });
    sockets.set(id, made);
    return made;
  }

  return {
    open(agent, { userId, credential }) {
      const secrets = { ...agent.headers, ...credential };
      const scrub = createScrubFor(Object.values(secrets));
      const headers = {
        ...secrets,
        ...personHeaders(agent, userId),
        'content-type': 'application/json',
        accept: 'text/event-stream',
      };
      return {
        agent,
        scrub,
        async *run(input, signal) {
          signal.throwIfAborted();
          const exchange = startExchange({ timeoutMs: RUN_MS, signal });
          let status: number | undefined;
          let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
          let hasEnded = false;
          try {
            const init = { method: 'POST', headers, body: JSON.stringify(input), signal: exchange.signal };
            const posting = exchanges.run(exchange, () => socketsOf(agent).fetch(agent.url, init));
            const response = await raceAbort(exchange, posting);
            status = response.status;
            reader = readerOf(response);
            yield* eventsOf(reader, exchange, () => {
              hasEnded = true;
            });
          } catch (error) {
            signal.throwIfAborted();
            if (error instanceof CredentialRefused) onUnauthorized(agent.id, error.refusal.status);
            // An event that is too large ends its exchange, and its reader then fails with an arbitrary error.
            const cause = exchange.signal.aborted ? exchange.signal.reason : error;
            if (cause instanceof MalformedRun) throw cause;
            throw faultOf(cause, { dispatched: exchange.dispatched, status, scrub: scrub.text });
          } finally {
            exchange.end();
            await leave(reader, hasEnded);
          }
        },
      };
    },
    close() {
      for (const { close } of sockets.values()) close();
      exchanges.disable();
    },
  };
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  const isStream =
    response.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
  if (response.ok && isStream && response.body !== null)
    return (guardEvents(response).body as ReadableStream<Uint8Array>).getReader();
  void response.body?.cancel().catch(() => undefined);
  if (response.status >= 400) throw new Error('The agent replied with an error.');
  throw new RemoteFault('refused', `its reply is no stream of events (HTTP ${response.status})`);
}

async function leave(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  hasEnded: boolean,
): Promise<void> {
  if (reader === undefined) return;
  if (hasEnded) void readToEnd(reader);
  else await reader.cancel().catch(() => undefined);
}

/**
 * Reads a reply to its end, up to a time limit. Some agents store the thread only after they have sent the run's end, and their
 * frameworks cancel that if the client disconnects.
 */
async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const leave = () => void reader.cancel().catch(() => undefined);
  const timer = setTimeout(leave, LINGER_MS).unref();
  try {
    while (!(await reader.read()).done);
  } catch {
    // The run has ended, so nothing is lost.
  } finally {
    clearTimeout(timer);
  }
}

/** The events of a run. Texts that people will see are sanitised here. */
async function* eventsOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  exchange: Exchange,
  onEnd: () => void,
): AsyncGenerator<ReadEvent, void> {
  const events = createEventSplitter();
  let count = 0;
  for (;;) {
    const { done, value } = await raceAbort(exchange, reader.read());
    if (done) return;
    for (const event of events.take(value)) {
      const data = dataOf(event);
      if (data === '') continue;
      count += 1;
      if (count > EVENTS_MAX) throw new RemoteFault('too_large');
      const read = readAgUiEvent(JSON.parse(data));
      if (read === undefined) continue;
      if (ENDS.has(read.type)) onEnd();
      yield withVisibleInterrupts(read);
    }
  }
}

/**
 * People read the agent's interrupts, so invisible characters are removed from these. Its other output is data and stays
 * unchanged.
 */
function withVisibleInterrupts(event: ReadEvent): ReadEvent {
  return event.type === 'RUN_FINISHED' ? { ...event, outcome: visibleLabels(event.outcome) } : event;
}

import { ChatStreamError, isChatStreamError } from './chat-errors.ts';
import { readFrames } from './chat-frames.ts';
import { createPatience, type Patience } from './chat-patience.ts';
import { createTelling, type Telling, type Told } from './chat-telling.ts';
import { isPassing, type ParleyClientError } from './errors.ts';
import { type RetrySettings, within } from './retry.ts';
import { type Call, segmentOf, type Transport } from './transport.ts';

export interface TurnDeps {
  readonly transport: Transport;
  readonly retry: RetrySettings;
  readonly heartbeatTimeoutMs: number;
}

/** A reply whose head is in; `close` ends it. */
export interface Connection {
  readonly response: Response;
  close(): void;
}

/** How a message was received: `begun` with the stream of its turn, or `unsure` when the reply was lost. */
export type Begun = Connection | 'unsure';

export interface TurnSource {
  readonly chatId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly begun: Begun;
  /** Messages that the chat had when its own was sent: whichever of these is told, it is not the reply. */
  readonly earlier?: ReadonlySet<string>;
}

const NO_CONTENT = 204;
const STEADY_MS = 1_000;
/** Failures of a connection that was never made (Node); browsers do not tell. */
const NEVER_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'];

/** Where the stream of a chat's running turn is. */
export function pathOf(chatId: string, rest: 'stream' | 'stop'): string {
  return `/run/api/chat/${segmentOf(chatId)}/${rest}`;
}

/**
 * Sends a message until it is known to be taken, or may have been. A refusal that began nothing (429, Parley's 503, no
 * connection) is tried again; `mayRepeat` says that this holds for every failure. Throws ParleyClientError.
 */
export async function beginTurn(
  deps: TurnDeps,
  call: Call,
  mayRepeat: boolean,
  signal: AbortSignal,
): Promise<Begun> {
  const patience = createPatience(deps.retry);
  for (;;) {
    try {
      return await connect(deps, call, signal);
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!mayRepeat && !beganNothing(error)) return 'unsure';
      if (!(await patience.wait(error, signal))) throw error;
    }
  }
}

/** Finds the running turn of a chat, from its start; nothing when none runs. Throws ParleyClientError. */
export async function findTurn(
  deps: TurnDeps,
  { chatId, headers }: Omit<TurnSource, 'begun'>,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  const patience = createPatience(deps.retry);
  for (;;) {
    try {
      return await reconnect(deps, chatId, headers, signal);
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!(await patience.wait(error, signal))) throw new ChatStreamError('unreachable', error);
    }
  }
}

/**
 * Tells one turn to its end, over as many connections as it takes, each beginning after the last event that was handed
 * on. Throws ParleyClientError, and the signal's reason.
 */
export async function* tellTurn(
  deps: TurnDeps,
  { chatId, headers, begun, earlier }: TurnSource,
  signal: AbortSignal,
): AsyncGenerator<Told, void> {
  const telling = createTelling(earlier);
  const patience = createPatience(deps.retry);
  let connection = begun === 'unsure' ? undefined : begun;
  for (;;) {
    let trouble: ParleyClientError | undefined;
    let since = Number.POSITIVE_INFINITY;
    try {
      connection ??= await reconnect(deps, chatId, headersAfter(telling, headers), signal);
      if (connection === undefined) throw lost(telling, begun);
      since = performance.now();
      yield* readConnection(deps, connection, telling, patience, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isChatStreamError(error) || !isPassing(error)) throw error;
      trouble = error;
    } finally {
      connection?.close();
      connection = undefined;
    }
    yield* telling.leave();
    if (telling.isOver) return;
    // A turn that waits for a person has nothing to tell; that its stream has lasted is a sign of health, too.
    if (performance.now() - since > STEADY_MS) patience.well();
    if (!(await patience.wait(trouble, signal))) throw new ChatStreamError('unreachable', trouble);
  }
}

async function* readConnection(
  { heartbeatTimeoutMs }: TurnDeps,
  { response }: Connection,
  telling: Telling,
  patience: Patience,
  signal: AbortSignal,
): AsyncGenerator<Told, void> {
  const onAlive = () => patience.well();
  const onRetry = (delayMs: number) => patience.startFrom(delayMs);
  for await (const frame of readFrames(response, { heartbeatTimeoutMs, signal, onAlive, onRetry })) {
    yield* telling.take(frame);
    if (frame.data === '[DONE]') return;
  }
}

function headersAfter({ lastEventId }: Telling, headers: Readonly<Record<string, string>>) {
  return lastEventId === undefined ? headers : { ...headers, 'last-event-id': lastEventId };
}

/** No turn runs any more, and its end was not told. */
function lost({ lastEventId }: Telling, begun: Begun): ChatStreamError {
  const isUnsure = begun === 'unsure' && lastEventId === undefined;
  return new ChatStreamError(isUnsure ? 'outcome-unknown' : 'ended-unseen');
}

async function reconnect(
  deps: TurnDeps,
  chatId: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  const path = pathOf(chatId, 'stream');
  const call = { method: 'GET', path, headers } as const;
  const connection = await connect(deps, call, signal);
  if (connection.response.status !== NO_CONTENT) return connection;
  connection.close();
  return undefined;
}

async function connect({ transport, retry }: TurnDeps, call: Call, signal: AbortSignal): Promise<Connection> {
  const cutting = new AbortController();
  try {
    const response = await within(retry.attemptMs, signal, () => transport.open(call, cutting.signal));
    return { response, close: () => cutting.abort() };
  } catch (error) {
    cutting.abort();
    throw error;
  }
}

/** True when a message is known not to have begun a turn. */
function beganNothing(error: ParleyClientError): boolean {
  const { status, problem } = error;
  // A proxy's own 503 may stand for a pod that went away with the message.
  if (status === 429 || (status === 503 && problem !== undefined)) return true;
  return status === undefined && codesOf(error).some((code) => NEVER_SENT.includes(code));
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { code } = error as { readonly code?: unknown };
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(error.cause)];
}

import { type Connection, type ConnectionDeps, connect, readConnection } from '../connection.ts';
import { isPassing, type ParleyClientError } from '../errors.ts';
import { type Call, segmentOf } from '../transport.ts';
import { ChatStreamError, type ChatStreamReason, isChatStreamError } from './errors.ts';
import { createPatience, type Patience } from './patience.ts';
import { createTelling, type Telling, type TurnItem } from './telling.ts';

export interface TurnDeps extends ConnectionDeps {
  readonly heartbeatTimeoutMs: number;
}

/** A message that begins a turn. Sent with the same key it leads to the same turn, however often. */
export interface TurnMessage {
  readonly body: object;
  readonly idempotencyKey: string;
}

export interface TurnSource {
  readonly chatId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Without it the turn is one that runs already. */
  readonly message?: TurnMessage;
}

/** A turn on its way to one reader after the other. */
export interface Turn {
  readonly items: AsyncIterator<TurnItem, void>;
  /** Ends its reading; the turn itself goes on. */
  end(): void;
}

export const CHAT_PATH = '/run/api/chat';
const NO_CONTENT = 204;
const STEADY_MS = 1_000;

/** Where more of a chat is. */
export function pathOf(chatId: string, rest: 'stream' | 'stop'): string {
  return `${CHAT_PATH}/${segmentOf(chatId)}/${rest}`;
}

/**
 * Sends a message until it is known to have begun its turn. Throws ParleyClientError, and the signal's reason; when
 * `giveUpMs` is over, ChatStreamError.
 */
export async function beginTurn(
  deps: TurnDeps,
  source: TurnSource & { readonly message: TurnMessage },
  signal: AbortSignal | undefined,
): Promise<Turn> {
  return turnOf(deps, source, await open(deps, source, 'outcome-unknown', signal));
}

/** Finds the running turn of a chat, from its start; nothing when none runs. Throws as `beginTurn` does. */
export async function findTurn(
  deps: TurnDeps,
  source: Omit<TurnSource, 'message'>,
  signal: AbortSignal | undefined,
): Promise<Turn | undefined> {
  const progress = await open(deps, source, 'unreachable', signal);
  if (!isEmpty(progress.connection)) return turnOf(deps, source, progress);
  progress.connection.close();
  return undefined;
}

/** How far a turn has come. */
interface Progress {
  readonly connection: Connection;
  readonly telling: Telling;
  readonly patience: Patience;
}

async function open(
  deps: TurnDeps,
  source: TurnSource,
  failure: ChatStreamReason,
  signal: AbortSignal | undefined,
): Promise<Progress> {
  const patience = createPatience(deps.retry);
  const telling = createTelling();
  for (;;) {
    try {
      const connection = await connect(deps, nextCall(source, telling), signal);
      return { connection, telling, patience };
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (!(await patience.wait(error, signal))) throw new ChatStreamError(failure, error);
    }
  }
}

function turnOf(deps: TurnDeps, source: TurnSource, progress: Progress): Turn {
  const life = new AbortController();
  const items = tellTurn(deps, source, progress, life.signal);
  return {
    items,
    end() {
      life.abort();
      // One that waits to be read on is not roused by the signal, and one that was never read has closed nothing.
      items.return().catch(() => undefined);
      progress.connection.close();
    },
  };
}

/** Tells one turn to its end, over as many connections as it takes. Throws ParleyClientError, and the signal's reason. */
async function* tellTurn(
  deps: TurnDeps,
  source: TurnSource,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<TurnItem, void> {
  const { telling, patience } = progress;
  let connection: Connection | undefined = progress.connection;
  let lastTrouble: ParleyClientError | undefined;
  for (;;) {
    let trouble: ParleyClientError | undefined;
    try {
      connection ??= await connect(deps, nextCall(source, telling), signal);
      if (!isToBeSent(source, telling) && isEmpty(connection)) throw new ChatStreamError('ended-unseen');
      yield* tellConnection(deps, { connection, telling, patience }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isChatStreamError(error)) throw new ChatStreamError(error.reason, lastTrouble);
      if (!isPassing(error)) throw error;
      trouble = error;
      lastTrouble = error;
    } finally {
      connection?.close();
      connection = undefined;
    }
    yield* telling.disconnected();
    if (telling.isOver) return;
    if (!(await patience.wait(trouble, signal))) throw new ChatStreamError('unreachable', lastTrouble);
  }
}

async function* tellConnection(
  { heartbeatTimeoutMs }: TurnDeps,
  { connection, telling, patience }: Progress,
  signal: AbortSignal,
): AsyncGenerator<TurnItem, void> {
  const since = performance.now();
  const onRetry = (delayMs: number) => patience.startFrom(delayMs);
  try {
    for await (const event of readConnection(connection, { heartbeatTimeoutMs, signal, onRetry })) {
      const { lastEventId } = telling;
      const items = telling.take(event);
      // What a lost connection throws away again is no progress: it may come like this for ever.
      if (items.length > 0 || telling.lastEventId !== lastEventId) patience.well();
      yield* items;
      if (telling.isOver) return;
    }
  } finally {
    // A turn that waits for a person has nothing to tell; that its stream has lasted is a sign of health, too.
    if (telling.isBegun && performance.now() - since > STEADY_MS) patience.well();
  }
}

function nextCall(source: TurnSource, telling: Telling): Call {
  const { chatId, headers } = source;
  if (isToBeSent(source, telling)) {
    const { body, idempotencyKey } = source.message;
    const keyed = { ...headers, 'idempotency-key': idempotencyKey };
    return { method: 'POST', path: CHAT_PATH, headers: keyed, body };
  }
  const { lastEventId } = telling;
  const after = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  return { method: 'GET', path: pathOf(chatId, 'stream'), headers: { ...headers, ...after } };
}

/** As long as nothing was told, only the message leads to its turn: the one that runs may be another. */
function isToBeSent(
  source: TurnSource,
  { isBegun }: Telling,
): source is TurnSource & { readonly message: TurnMessage } {
  return source.message !== undefined && !isBegun;
}

/** Whether this says that no turn runs. */
function isEmpty({ response }: Connection): boolean {
  return response.status === NO_CONTENT;
}

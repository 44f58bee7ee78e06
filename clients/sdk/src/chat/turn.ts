import {
  createRetryBudget,
  isTransient,
  type OpenResponse,
  openResponse,
  ParleyClientError,
  pathSegment,
  type RetryBudget,
  readEventStream,
  sleep,
  type Transport,
} from '@parley/core';
import { type ChunkAssembler, createChunkAssembler, type TurnItem } from './chunk-assembler.ts';
import { ChatStreamError, type ChatStreamReason, isChatStreamError } from './errors.ts';

interface ChatTurnDeps {
  readonly transport: Transport;
  readonly heartbeatTimeoutMs: number;
  /** Called with the last event of a stream whose end leaves calls open. */
  readonly onCallsLeft: (chatId: string, lastEventId: string) => void;
}

/** A message that begins a turn. Every request with the same key leads to the same turn. */
interface TurnMessage {
  readonly body: object;
  readonly idempotencyKey: string;
}

interface TurnSource {
  readonly chatId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent for a turn that is already running. */
  readonly message?: TurnMessage;
  /** The last event that was read before. */
  readonly after?: string | undefined;
}

/** The stream of one turn. One reader at a time takes its items. */
export interface TurnStream {
  readonly items: AsyncIterator<TurnItem, void>;
  /** Stops reading; the turn itself continues on the server. */
  close(): void;
}

export const CHAT_PATH = '/run/api/chat';
const NO_CONTENT = 204;
/** A connection that lasted this long counts as a success, even if it delivered nothing. */
const STABLE_MS = 1_000;

/** The path of a chat's running turn. */
export function chatPath(chatId: string, action: 'stream' | 'stop'): string {
  return `${CHAT_PATH}/${pathSegment(chatId)}/${action}`;
}

/**
 * Sends a message until its turn has certainly begun. Throws ParleyClientError, the signal's reason, or ChatStreamError
 * after `giveUpMs`.
 */
export async function beginTurn(
  deps: ChatTurnDeps,
  source: TurnSource & { readonly message: TurnMessage },
  signal: AbortSignal | undefined,
): Promise<TurnStream> {
  return createTurnStream(deps, source, await connect(deps, source, 'outcome-unknown', signal));
}

/**
 * Finds the running turn of a chat and reads it from its start, or after `after`, also when it has ended since; nothing
 * when there is nothing to read. Throws as `beginTurn` does.
 */
export async function findTurn(
  deps: ChatTurnDeps,
  source: Omit<TurnSource, 'message'>,
  signal: AbortSignal | undefined,
): Promise<TurnStream | undefined> {
  const progress = await connect(deps, source, 'unreachable', signal);
  if (!hasNoTurn(progress.connection)) return createTurnStream(deps, source, progress);
  progress.connection.close();
  return undefined;
}

/** How much of a turn has been read. */
interface Progress {
  readonly connection: OpenResponse;
  readonly assembler: ChunkAssembler;
  readonly budget: RetryBudget;
}

async function connect(
  { transport }: ChatTurnDeps,
  source: TurnSource,
  failure: ChatStreamReason,
  signal: AbortSignal | undefined,
): Promise<Progress> {
  const budget = createRetryBudget(transport.retry);
  const assembler = createChunkAssembler(source.after);
  for (;;) {
    try {
      const connection = await openResponse(transport, nextCall(source, assembler), signal);
      return { connection, assembler, budget };
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (!(await waitBeforeRetry(budget, error, signal))) throw new ChatStreamError(failure, error);
    }
  }
}

/** Resolves with false when the budget is spent. Rejects when the signal is aborted. */
async function waitBeforeRetry(
  budget: RetryBudget,
  error: ParleyClientError | undefined,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const delayMs = budget.nextDelayMs(error?.retryAfterSeconds);
  if (delayMs === undefined) return false;
  await sleep(delayMs, signal);
  return true;
}

function createTurnStream(deps: ChatTurnDeps, source: TurnSource, progress: Progress): TurnStream {
  const closing = new AbortController();
  const items = readTurn(deps, source, progress, closing.signal);
  return {
    items,
    close() {
      closing.abort();
      // The signal reaches neither a generator that waits for its reader nor one that was never started.
      items.return().catch(() => undefined);
      progress.connection.close();
    },
  };
}

/** Reads one turn to its end, over as many connections as it takes. Throws ParleyClientError, or the signal's reason. */
async function* readTurn(
  deps: ChatTurnDeps,
  source: TurnSource,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<TurnItem, void> {
  const { assembler, budget } = progress;
  let connection: OpenResponse | undefined = progress.connection;
  let lastFailure: ParleyClientError | undefined;
  for (;;) {
    let failure: ParleyClientError | undefined;
    try {
      connection ??= await openNext(deps, source, assembler, signal);
      if (!mustSendMessage(source, assembler) && hasNoTurn(connection))
        throw new ChatStreamError('ended-unseen');
      yield* readConnection(deps, { connection, assembler, budget }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isChatStreamError(error)) throw new ChatStreamError(error.reason, lastFailure);
      if (!isTransient(error)) throw error;
      failure = error;
      lastFailure = error;
    } finally {
      connection?.close();
      connection = undefined;
    }
    yield* assembler.disconnect();
    if (assembler.isOver) return noteCallsLeft(deps, source, assembler);
    if (!(await waitBeforeRetry(budget, failure, signal)))
      throw new ChatStreamError('unreachable', lastFailure);
  }
}

function noteCallsLeft(
  { onCallsLeft }: ChatTurnDeps,
  { chatId }: TurnSource,
  assembler: ChunkAssembler,
): void {
  const { lastEventId, leavesCalls } = assembler;
  if (leavesCalls && lastEventId !== undefined) onCallsLeft(chatId, lastEventId);
}

async function* readConnection(
  { transport, heartbeatTimeoutMs: idleTimeoutMs }: ChatTurnDeps,
  { connection, assembler, budget }: Progress,
  signal: AbortSignal,
): AsyncGenerator<TurnItem, void> {
  const openedAt = performance.now();
  const handlers = {
    onRetry: budget.setFirstDelayMs,
    // A delay counts only at the end, where the pod ends the stream itself. The reader of a pod that died finds another
    // pod at once.
    onEvent: () => budget.setFirstDelayMs(transport.retry.firstDelayMs),
  };
  try {
    for await (const event of readEventStream(connection.response, { idleTimeoutMs, signal, ...handlers })) {
      const { lastEventId } = assembler;
      const items = assembler.add(event);
      // Buffered chunks are no progress: a lost connection discards them, and that could repeat for ever.
      if (items.length > 0 || assembler.lastEventId !== lastEventId) budget.reset();
      yield* items;
      if (assembler.isOver) return;
    }
  } finally {
    // A turn that waits for a person delivers nothing for a long time.
    if (assembler.hasBegun && performance.now() - openedAt > STABLE_MS) budget.reset();
  }
}

function nextCall(source: TurnSource, assembler: ChunkAssembler) {
  const { chatId, headers } = source;
  if (mustSendMessage(source, assembler)) {
    const { body, idempotencyKey } = source.message;
    const keyed = { ...headers, 'idempotency-key': idempotencyKey };
    return { method: 'POST', path: CHAT_PATH, headers: keyed, body } as const;
  }
  const { lastEventId } = assembler;
  const after = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  return { method: 'GET', path: chatPath(chatId, 'stream'), headers: { ...headers, ...after } } as const;
}

/** Until the turn has begun, only its message leads to it: the running turn may be another one. */
function mustSendMessage(
  source: TurnSource,
  { hasBegun }: ChunkAssembler,
): source is TurnSource & { readonly message: TurnMessage } {
  return source.message !== undefined && !hasBegun;
}

/** Opens the next connection; from the start of the turn where a pod refuses the position. */
async function openNext(
  { transport }: ChatTurnDeps,
  source: TurnSource,
  assembler: ChunkAssembler,
  signal: AbortSignal,
): Promise<OpenResponse> {
  try {
    return await openResponse(transport, nextCall(source, assembler), signal);
  } catch (error) {
    if (!isPositionRefused(error) || !assembler.startOver()) throw error;
    return openResponse(transport, nextCall(source, assembler), signal);
  }
}

/** Whether a pod may not know the form of the position, because its version is older than that of the pod before. */
function isPositionRefused(error: unknown): boolean {
  return error instanceof ParleyClientError && error.status === 400;
}

/** Whether the reply states that no turn is running. */
function hasNoTurn({ response }: OpenResponse): boolean {
  return response.status === NO_CONTENT;
}

/**
 * Reads one turn of a chat, from its message to its end, over any number of connections. Which chat reads which turn is decided
 * in `transport.ts` and `registry.ts`.
 */

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
  /** Called with the last event of a stream at whose end calls are open. */
  readonly onCallsLeft: (chatId: string, lastEventId: string) => void;
}

/** A message that begins a turn. All requests with the same key lead to the same turn. */
interface TurnMessage {
  readonly body: object;
  readonly idempotencyKey: string;
}

interface TurnSource {
  readonly chatId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent for a turn that is already running. */
  readonly message?: TurnMessage;
  /** The last event that was read earlier. */
  readonly after?: string | undefined;
}

/** The stream of one turn. Only one reader at a time takes its items. */
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
 * Finds the running turn of a chat and reads it from its start, or after `after`, even if it has ended since. Undefined when
 * there is nothing to read. Throws like `beginTurn`.
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

/** Resolves with false when the budget is used up. Rejects when the signal is aborted. */
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
      // A signal cannot end a generator that is waiting for its reader or was never started.
      items.return().catch(() => undefined);
      progress.connection.close();
    },
  };
}

/** Reads one turn to its end, over any number of connections. Throws ParleyClientError, or the signal's reason. */
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
    // A delay that the server names matters only if the pod then ends the stream itself. After any later event, the reader of a
    // pod that died may try another pod at once.
    onEvent: () => budget.setFirstDelayMs(transport.retry.firstDelayMs),
  };
  try {
    for await (const event of readEventStream(connection.response, { idleTimeoutMs, signal, ...handlers })) {
      const { lastEventId } = assembler;
      const items = assembler.add(event);
      // Buffered chunks are no progress, because a lost connection discards them, which could repeat for ever.
      if (items.length > 0 || assembler.lastEventId !== lastEventId) budget.reset();
      yield* items;
      if (assembler.isOver) return;
    }
  } finally {
    // A turn that waits for a person delivers nothing for a long time, so a stable connection counts as progress.
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

/** Before the turn has begun, only its message leads to it, because the running turn may be another one. */
function mustSendMessage(
  source: TurnSource,
  { hasBegun }: ChunkAssembler,
): source is TurnSource & { readonly message: TurnMessage } {
  return source.message !== undefined && !hasBegun;
}

/** Opens the next connection; if a pod refuses the position, from the start of the turn. */
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

/** Whether a pod may not understand the position, because its version is older than that of the previous pod. */
function isPositionRefused(error: unknown): boolean {
  return error instanceof ParleyClientError && error.status === 400;
}

/** Whether the reply says that no turn is running. */
function hasNoTurn({ response }: OpenResponse): boolean {
  return response.status === NO_CONTENT;
}

/**
 * Routes the questions of a 2025 server to the call that its connection carries. How a question is asked is decided by the
 * call's asker.
 */

import {
  type ClientContext,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
} from '@modelcontextprotocol/client';
import { TooManyQuestions } from '../errors.ts';
import type { RunningExchange } from '../transports/exchange.ts';
import type { McpAsker } from './asker.ts';
import { type AskableKinds, ClientRefused, isAskable, readRequest } from './client-ask.ts';
import { QuestionRefused } from './question.ts';

/** The questions that a server of the 2025 revision asks on one connection. */
export interface ConnectionQuestions {
  /**
   * Runs a call. Until it ends, the server's questions go to the call's asker. The protocol does not say to which call a
   * question belongs, so a connection on which the server can ask carries one call at a time.
   */
  during<T>(call: AskingCall, work: () => Promise<T>): Promise<T>;
  /** Answers a request of the server. */
  onRequest(request: JSONRPCRequest, context: ClientContext): Promise<Result>;
  /** Called when the server reports that a page of -32042 is finished. */
  onComplete(elicitationId: string): void;
  /** Resolves when the page with this id is finished. Rejects with the reason of the signal. */
  completed(elicitationId: string, signal: AbortSignal): Promise<void>;
}

export interface AskingCall {
  readonly asker: McpAsker;
  readonly exchange: RunningExchange;
}

interface ConnectionQuestionsOptions {
  readonly modes: AskableKinds;
  /** How often a server that asked for progress is told that the person has not answered yet, in ms. */
  readonly progressMs: number;
  /** Called once if the server keeps asking after a call has ended, which would cause refusals without end. */
  readonly onEndless: () => void;
}

const COMPLETED_MAX = 100;
/** How many questions between two calls are refused one by one. */
const OUTSIDE_OF_CALLS_MAX = 100;

export function createConnectionQuestions({
  modes,
  progressMs,
  onEndless,
}: ConnectionQuestionsOptions): ConnectionQuestions {
  let outsideOfCalls = 0;
  let current: (AskingCall & { readonly over: AbortSignal }) | undefined;
  // The notice that a page is finished may arrive before the error that names the page.
  const completed = new Set<string>();
  const waiting = new Map<string, () => void>();

  async function ask(request: JSONRPCRequest, { mcpReq }: ClientContext): Promise<Result> {
    const call = current;
    const isKnown = isAskable(request.method, modes);
    if (call === undefined) {
      outsideOfCalls += 1;
      if (outsideOfCalls === OUTSIDE_OF_CALLS_MAX + 1) onEndless();
      throw isKnown ? noCall() : unknownMethod();
    }
    const { asker, exchange, over } = call;
    const read = () => {
      if (!isKnown) throw unknownMethod();
      return readRequest(request.method, request.params, modes);
    };
    const withdrawn = AbortSignal.any([mcpReq.signal, exchange.signal, over]);
    const stop = reportProgress(mcpReq, progressMs);
    try {
      const answer = await exchange.waiting(() => asker.ask(read, withdrawn));
      // The call was stopped. If the server got the answer now, it might still carry the call out.
      exchange.signal.throwIfAborted();
      return { ...answer };
    } catch (error) {
      // A server that asks without end is not called further, so the call ends.
      if (error instanceof TooManyQuestions) exchange.fail(error);
      throw error;
    } finally {
      stop();
    }
  }

  return {
    async during(call, work) {
      if (current !== undefined) throw new Error('The connection carries another call.');
      outsideOfCalls = 0;
      const ending = new AbortController();
      current = { ...call, over: ending.signal };
      try {
        return await work();
      } finally {
        current = undefined;
        // The open question is withdrawn: a server may return its result without waiting for the answer.
        ending.abort();
        completed.clear();
        waiting.clear();
      }
    },
    async onRequest(request, context) {
      try {
        return await ask(request, context);
      } catch (error) {
        throw protocolErrorOf(error);
      }
    },
    onComplete(elicitationId) {
      if (completed.size < COMPLETED_MAX) completed.add(elicitationId);
      waiting.get(elicitationId)?.();
    },
    async completed(elicitationId, signal) {
      if (completed.has(elicitationId)) return;
      signal.throwIfAborted();
      let onAbort = () => undefined;
      try {
        await new Promise<void>((resolve, reject) => {
          onAbort = () => void reject(signal.reason);
          signal.addEventListener('abort', onAbort, { once: true });
          waiting.set(elicitationId, resolve);
        });
      } finally {
        waiting.delete(elicitationId);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}

/** Reports progress to a server that sent a progress token: servers with a timeout wait as long as there is progress. */
function reportProgress({ _meta, notify }: ClientContext['mcpReq'], everyMs: number): () => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  const timer = setInterval(() => {
    progress += 1;
    const params = { progressToken, progress, message: 'Waiting for the person.' };
    notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

function unknownMethod(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found');
}

function noCall(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidRequest,
    'No call is under way on this connection, so there is nobody to ask.',
  );
}

/** Replaces errors that are not meant for servers by one without details. */
function protocolErrorOf(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  if (error instanceof QuestionRefused)
    return new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  if (error instanceof ClientRefused) return new ProtocolError(error.code, error.message);
  if (error instanceof TooManyQuestions)
    return new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message);
  return new ProtocolError(ProtocolErrorCode.InternalError, 'The question could not be asked.');
}

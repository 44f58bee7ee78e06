/**
 * Follows a turn through waits, detachments and restarts until it has really ended. A chat with a page does not need this:
 * there, `useChat` and the transport do it.
 */

import { sleep } from '@parley/core';
import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { UIMessageChunk } from 'ai';
import type { ParleyClient } from '../client.ts';
import { isChatStreamError } from './errors.ts';
import { createReplayFilter } from './replay-filter.ts';
import type { ParleyChatTransport } from './transport.ts';

type Chunks = ReadableStream<UIMessageChunk>;

export interface WholeTurnDeps {
  readonly transport: Pick<ParleyChatTransport, 'reconnectToStream' | 'continueTurn'>;
  readonly parley: Pick<ParleyClient, 'events'>;
}

/** The pause before a waiting turn is read again, in ms. It doubles while the turn is still waiting. */
const RESUME_MS = 100;
const RESUME_MS_MAX = 5_000;

/**
 * Reads a turn to its end, even if its stream ends while it waits for approvals, if it is detached while it waits for
 * its person, or if it starts again. `open` begins or finds the turn. Each chunk comes once, and `finish` is the last
 * one; data parts come again on every change. Rejects like the transport, or with the signal's reason.
 *
 * @example
 * for await (const chunk of followTurn({ transport, parley: client }, chatId, send, signal)) show(chunk);
 */
export async function* followTurn(
  { transport, parley }: WholeTurnDeps,
  chatId: string,
  open: (signal: AbortSignal) => Promise<Chunks | null>,
  signal: AbortSignal,
): AsyncGenerator<UIMessageChunk, void> {
  const filter = createReplayFilter();
  const questions = createOpenQuestions();
  const approvals = createOpenApprovals();
  let delayMs = RESUME_MS;
  for (let chunks = await open(signal); chunks !== null; ) {
    let wait: 'none' | 'detached' | 'approvals' = 'none';
    try {
      for await (const chunk of chunks) {
        questions.see(chunk);
        approvals.see(chunk);
        // A turn that is read from its start begins with a `start` chunk.
        if (chunk.type === 'start') filter.restart();
        wait = waitAt(chunk, approvals);
        if (wait === 'none') yield* filter.take(chunk);
      }
      if (wait === 'none') return;
      if (wait === 'approvals') {
        await sleep(delayMs, signal);
        delayMs = Math.min(delayMs * 2, RESUME_MS_MAX);
        chunks = await transport.continueTurn(chatId, { signal });
        continue;
      }
      if (questions.areOpen()) delayMs = RESUME_MS;
      yield* await untilEnded(parley, questions, signal);
      await sleep(delayMs, signal);
      delayMs = Math.min(delayMs * 2, RESUME_MS_MAX);
    } catch (error) {
      if (!isChatStreamError(error, 'stream-reset')) throw error;
    }
    chunks = await transport.reconnectToStream({ chatId, abortSignal: signal });
  }
}

/** What a turn waits for if its stream ends with this chunk. */
function waitAt(chunk: UIMessageChunk, approvals: OpenApprovals): 'none' | 'detached' | 'approvals' {
  if (chunk.type !== 'finish') return 'none';
  if (isDetached(chunk.messageMetadata)) return 'detached';
  return chunk.finishReason === 'tool-calls' && approvals.areOpen() ? 'approvals' : 'none';
}

interface OpenApprovals {
  see(chunk: UIMessageChunk): void;
  areOpen(): boolean;
}

function createOpenApprovals(): OpenApprovals {
  const open = new Set<string>();
  return {
    see(chunk) {
      if (chunk.type !== 'data-approval-request') return;
      const { approvalId, status } = chunk.data as Approval;
      if (status === 'pending') open.add(approvalId);
      else open.delete(approvalId);
    },
    areOpen: () => open.size > 0,
  };
}

interface OpenQuestions {
  see(chunk: UIMessageChunk): void;
  areOpen(): boolean;
  /** The stream request of the questions; undefined before the first question. */
  streamRequestId(): string | undefined;
}

function createOpenQuestions(): OpenQuestions {
  const open = new Set<string>();
  let streamRequestId: string | undefined;
  return {
    see(chunk) {
      if (chunk.type !== 'data-elicitation-request') return;
      const elicitation = chunk.data as Elicitation;
      streamRequestId = elicitation.streamRequestId;
      if (isTerminal(elicitation.status)) open.delete(elicitation.elicitationId);
      else open.add(elicitation.elicitationId);
    },
    areOpen: () => open.size > 0,
    streamRequestId: () => streamRequestId,
  };
}

/** Waits until the questions of a detached turn have ended, and returns their ends as data parts. */
async function untilEnded(
  parley: Pick<ParleyClient, 'events'>,
  questions: OpenQuestions,
  signal: AbortSignal,
): Promise<UIMessageChunk[]> {
  const id = questions.streamRequestId();
  const ends: UIMessageChunk[] = [];
  if (id === undefined || !questions.areOpen()) return ends;
  for await (const item of parley.events(id, { signal })) {
    if (!('elicitation' in item) || !isTerminal(item.elicitation.status)) continue;
    const { elicitationId } = item.elicitation;
    const part = { type: 'data-elicitation-request', id: elicitationId, data: item.elicitation } as const;
    questions.see(part);
    ends.push(part);
    if (!questions.areOpen()) break;
  }
  return ends;
}

function isDetached(metadata: unknown): boolean {
  const parley = (metadata as { readonly parley?: { readonly state?: unknown } } | null | undefined)?.parley;
  return parley?.state === 'waiting';
}

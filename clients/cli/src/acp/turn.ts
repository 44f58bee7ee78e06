/**
 * Watches one turn for an ACP client: text, questions, approvals and the end. Sessions and the order of turns are in
 * `sessions.ts`.
 */

import { type AgentContext, methods, type StopReason } from '@agentclientprotocol/sdk';
import type { Approval, Elicitation, ParleyClient } from '@parley/sdk';
import { type ChatChunk, followTurn, type ParleyChatTransport } from '@parley/sdk/chat';
import { createApprovals } from './approvals.ts';
import type { ShownModes } from './capabilities.ts';
import { describeNotice, describeUnasked } from './describe.ts';
import { createQuestions } from './questions.ts';
import { readTurn } from './reading.ts';
import { createTurnUpdates } from './updates.ts';

export interface TurnDeps {
  readonly transport: Pick<ParleyChatTransport, 'reconnectToStream' | 'continueTurn' | 'stopTurn'>;
  readonly parley: Pick<ParleyClient, 'answer' | 'decide' | 'events'>;
  readonly client: Pick<AgentContext, 'request' | 'notify'>;
  readonly modes: ShownModes;
  readonly log: (line: string) => void;
}

/** A turn that is being watched for an ACP client. */
export interface WatchedTurn {
  /**
   * Resolves with the stop reason. Rejects with RequestError if the turn failed, and with ParleyClientError if the connection
   * to it was lost.
   */
  readonly ended: Promise<StopReason>;
  /** Stops the turn on the server. `ended` becomes `cancelled`, even if no pod can be reached. */
  cancel(): void;
  /** Stops watching. The turn continues on the server. */
  close(): void;
}

/** How long a cancelled turn may take to end on the server, in ms. */
const CANCEL_GRACE_MS = 5_000;
/**
 * Watches a turn of a session to its end. `open` begins or finds the turn. Questions go to the client, whichever pod asks them.
 */
export function watchTurn(
  deps: TurnDeps,
  sessionId: string,
  open: Parameters<typeof followTurn>[2],
): WatchedTurn {
  const { transport, parley, client, modes, log } = deps;
  const closing = new AbortController();
  const { signal } = closing;
  const updates = createTurnUpdates();
  const send = (update: ReturnType<typeof updates.paragraph>) =>
    client.notify(methods.client.session.update, { sessionId, update });
  const say = (text: string) => send(updates.paragraph(text));
  const questions = createQuestions({ client, parley, modes, sessionId, say, log });
  const approvals = createApprovals({ client, parley, sessionId, say, log });
  const unasked = createUnaskedCalls();
  const closeRequests = () => {
    questions.close();
    approvals.close();
  };
  let isCancelled = false;

  async function takeChunk(chunk: ChatChunk): Promise<void> {
    for (const update of updates.take(chunk)) await send(update);
    if (chunk.type === 'data-elicitation-request') await questions.see(chunk.data as Elicitation);
    if (chunk.type === 'data-approval-request') approvals.see(chunk.data as Approval);
    const text =
      chunk.type === 'data-tool-auth-required' ? describeNotice(chunk.data) : unasked.take(chunk, modes);
    if (text !== undefined) await say(text);
  }

  const ended = readTurn(followTurn({ transport, parley }, sessionId, open, signal), takeChunk)
    .catch((error: unknown) => {
      if (isCancelled) return 'cancelled' as const;
      throw error;
    })
    .then((reason) => (isCancelled ? 'cancelled' : reason))
    .finally(() => {
      closeRequests();
      closing.abort();
    });
  // Prevents an unhandled rejection, because the prompt that awaits `ended` may have been cancelled.
  ended.catch(() => undefined);

  return {
    ended,
    close() {
      closing.abort();
      closeRequests();
    },
    cancel() {
      // A disconnected client has not decided anything.
      if (isCancelled || signal.aborted) return;
      isCancelled = true;
      closeRequests();
      const timer = setTimeout(() => closing.abort(), CANCEL_GRACE_MS);
      signal.addEventListener('abort', () => clearTimeout(timer));
      transport.stopTurn(sessionId).catch((error: unknown) => {
        log(`the turn could not be stopped: ${error instanceof Error ? error.name : 'unknown error'}`);
        closing.abort();
      });
    },
  };
}

/** Collects calls of the tool `elicit` that could ask nobody. Without a default, such a call fails, and no question exists. */
function createUnaskedCalls() {
  const inputs = new Map<string, unknown>();
  return {
    take(chunk: ChatChunk, { form }: ShownModes): string | undefined {
      if (chunk.type === 'tool-input-available' && chunk.toolName === 'elicit' && !form)
        inputs.set(chunk.toolCallId, chunk.input);
      if (chunk.type !== 'tool-output-error' || !inputs.has(chunk.toolCallId)) return undefined;
      const input = inputs.get(chunk.toolCallId);
      inputs.delete(chunk.toolCallId);
      return describeUnasked(input);
    },
  };
}

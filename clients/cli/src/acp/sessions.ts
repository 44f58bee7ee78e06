/**
 * Keeps the sessions of one ACP connection and makes prompts wait for running turns. Watching a single turn is in `turn.ts`.
 */

import type { AgentContext, StopReason } from '@agentclientprotocol/sdk';
import { methods } from '@agentclientprotocol/sdk';
import { createClient } from '@parley/sdk';
import { type ChatHistory, createChatArchive, createChatTransport } from '@parley/sdk/chat';
import { type ShownModes, supportHeader } from './capabilities.ts';
import { requestError } from './errors.ts';
import type { AcpAgentOptions } from './options.ts';
import type { PromptPart } from './prompt.ts';
import { replayUpdates } from './replay.ts';
import { type WatchedTurn, watchTurn } from './turn.ts';
import { createUsedSessions, type UsedSession } from './used-sessions.ts';

/** The sessions of one ACP connection. A session is a conversation of Parley and has its id. */
export interface Sessions {
  /** Begins a session and returns its id. Throws if Parley does not accept the token. */
  begin(): Promise<string>;
  list(cursor: string | undefined): ReturnType<ReturnType<typeof createChatArchive>['list']>;
  /**
   * Opens an existing conversation: with `replay` it sends the history, and it watches a running turn with its open questions.
   */
  open(client: AgentContext, sessionId: string, options: { readonly replay: boolean }): Promise<void>;
  /**
   * Sends a message and resolves with the end of its turn. Waits for a running turn first. Throws for a session that was
   * neither begun nor opened here and has no conversation.
   */
  prompt(
    client: AgentContext,
    sessionId: string,
    parts: readonly PromptPart[],
    signal: AbortSignal,
  ): Promise<StopReason>;
  /** Stops the running turn, and the prompts that are waiting for it. */
  cancel(sessionId: string): Promise<void>;
  end(sessionId: string): Promise<void>;
  /** Stops watching. The turns continue on the server. */
  close(): void;
}

const GIVE_UP_MS = 300_000;

export function createSessions(options: AcpAgentOptions, modes: ShownModes): Sessions {
  const { baseUrl, token, agent, log } = options;
  const place = { baseUrl, token, ...(options.fetch !== undefined && { fetch: options.fetch }) };
  const retry = { giveUpMs: GIVE_UP_MS, ...options.retry };
  const parley = createClient({ ...place, retry });
  const archive = createChatArchive(place);
  const transport = createChatTransport({
    ...place,
    retry,
    headers: { 'x-supports-elicitation': supportHeader(modes) },
    body: agent === undefined ? {} : { agent },
  });
  const sessions = createUsedSessions();
  /** The existing sessions. A new session has no conversation before its first turn. */
  const known = new Set<string>();

  function watch(
    client: AgentContext,
    sessionId: string,
    open: Parameters<typeof watchTurn>[2],
  ): WatchedTurn {
    const turn = watchTurn({ transport, parley, client, modes, log }, sessionId, open);
    void sessions.use(sessionId, async (session) => {
      session.turn = turn;
      await turn.ended.catch(() => undefined);
      if (session.turn === turn) session.turn = undefined;
    });
    return turn;
  }

  async function admit(sessionId: string): Promise<void> {
    if (!known.has(sessionId)) await archive.read(sessionId);
    known.add(sessionId);
  }

  async function cancel(sessionId: string): Promise<void> {
    const session = sessions.find(sessionId);
    if (session === undefined) return;
    session.cancels += 1;
    session.turn?.cancel();
    await untilIdle(session);
  }

  async function untilIdle(session: UsedSession): Promise<void> {
    while (session.turn !== undefined) await session.turn.ended.catch(() => undefined);
  }

  async function show(client: AgentContext, sessionId: string, history: ChatHistory): Promise<void> {
    for (const update of replayUpdates(history))
      await client.notify(methods.client.session.update, { sessionId, update });
  }

  return {
    async begin() {
      await archive.list({ limit: 1 }).catch((error: unknown) => {
        throw requestError(error);
      });
      const sessionId = `acp_${crypto.randomUUID()}`;
      known.add(sessionId);
      return sessionId;
    },
    list: (cursor) => archive.list(cursor === undefined ? {} : { cursor }),
    async open(client, sessionId, { replay }) {
      try {
        const history = await archive.read(sessionId);
        known.add(sessionId);
        if (replay) await show(client, sessionId, history);
        if (!history.isRunning || sessions.find(sessionId)?.turn !== undefined) return;
      } catch (error) {
        throw requestError(error, sessionId);
      }
      // This runs after the reply, so that the client knows the session when its questions come.
      setImmediate(() => {
        const reconnect = (abortSignal: AbortSignal) =>
          transport.reconnectToStream({ chatId: sessionId, abortSignal });
        watch(client, sessionId, reconnect).ended.catch((error: unknown) =>
          log(`a running turn could not be read: ${error instanceof Error ? error.name : 'unknown error'}`),
        );
      });
    },
    prompt: (client, sessionId, parts, signal) =>
      sessions.use(sessionId, async (session) => {
        const { cancels } = session;
        await admit(sessionId).catch((error: unknown) => {
          throw requestError(error, sessionId);
        });
        await untilIdle(session);
        if (session.cancels !== cancels || signal.aborted) return 'cancelled';
        const turn = watch(client, sessionId, (abortSignal) =>
          transport.sendMessages({
            trigger: 'submit-message',
            chatId: sessionId,
            messageId: undefined,
            messages: [{ id: crypto.randomUUID(), role: 'user', parts: [...parts] }],
            abortSignal,
          }),
        );
        signal.addEventListener('abort', turn.cancel, { once: true });
        try {
          return await turn.ended;
        } catch (error) {
          throw requestError(error, sessionId);
        } finally {
          signal.removeEventListener('abort', turn.cancel);
        }
      }),
    cancel,
    async end(sessionId) {
      known.delete(sessionId);
      await cancel(sessionId);
    },
    close() {
      for (const { turn } of sessions.all()) turn?.close();
    },
  };
}

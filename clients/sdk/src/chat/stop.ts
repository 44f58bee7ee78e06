import type { ParleyClientError, Transport } from '@parley/core';
import { chatPath } from './turn.ts';

const STOP_GIVE_UP_MS = 30_000;

interface StopSignals {
  /** Ends the call at once. */
  readonly signal: AbortSignal | undefined;
  /** Lets the current try finish, but allows no other. */
  readonly retrySignal: AbortSignal;
}

/**
 * Asks the server to stop a chat's turn, for at most half a minute. Resolves with false when certainly none was running.
 * Rejects with ParleyClientError, or the reason of either signal.
 */
export async function stopTurn(
  transport: Transport,
  chatId: string,
  { signal, retrySignal }: StopSignals,
): Promise<boolean> {
  let isReplyLost = false;
  // A rate-limited call did nothing. After any other failure, the turn may have been stopped.
  const onFailure = ({ code }: ParleyClientError) => {
    if (code !== 'rate_limited') isReplyLost = true;
  };
  const call = { method: 'POST', path: chatPath(chatId, 'stop'), body: {}, signal } as const;
  const reply = await transport.request(call, { giveUpMs: STOP_GIVE_UP_MS, retrySignal, onFailure });
  return (reply as { readonly stopped?: unknown } | null)?.stopped === true || isReplyLost;
}

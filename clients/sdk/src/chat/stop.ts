import type { ParleyClientError } from '../errors.ts';
import type { Transport } from '../transport.ts';
import { pathOf } from './turn.ts';

const STOP_GIVE_UP_MS = 30_000;

export interface StopSignals {
  /** Cuts the present try, too. */
  readonly signal: AbortSignal | undefined;
  /** Aborted, there are no more tries. */
  readonly tries: AbortSignal;
}

/**
 * Asks the server to stop a chat's turn, for half a minute at most. False when it is known that none ran. Rejects with
 * ParleyClientError, and the reason of either signal.
 */
export async function askToStop(
  transport: Transport,
  chatId: string,
  { signal, tries }: StopSignals,
): Promise<boolean> {
  let isReplyLost = false;
  // Refused for their number, a call did nothing; after any other trouble the turn may have been stopped.
  const onTrouble = ({ code }: ParleyClientError) => {
    if (code !== 'rate_limited') isReplyLost = true;
  };
  const call = { method: 'POST', path: pathOf(chatId, 'stop'), body: {}, signal } as const;
  const reply = await transport.request(call, { giveUpMs: STOP_GIVE_UP_MS, tries, onTrouble });
  return (reply as { readonly stopped?: unknown } | null)?.stopped === true || isReplyLost;
}

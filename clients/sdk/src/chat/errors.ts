import { isParleyClientError, ParleyClientError } from '../errors.ts';

/**
 * Why a chat's stream broke off.
 *
 * - `outcome-unknown`: the message was sent again and again for `giveUpMs`, and no reply was heard that settles it.
 *   Nobody knows whether it arrived. Let the person decide: sent again as it is (`regenerate`) it counts once.
 * - `ended-unseen`: the turn ended while there was no connection, and its end can no longer be read.
 * - `stream-reset`: what was told is void, and nobody was there to take it back (`attach`). `reconnectToStream`, or
 *   `resumeStream()` of a chat, tells the turn again from its start.
 * - `unreachable`: no pod could be reached for `giveUpMs`. The turn goes on; `resumeStream()` finds it.
 */
export type ChatStreamReason = 'outcome-unknown' | 'ended-unseen' | 'stream-reset' | 'unreachable';

const MESSAGES: Readonly<Record<ChatStreamReason, string>> = {
  'outcome-unknown': 'The server did not take the message in time; nobody knows whether it arrived.',
  'ended-unseen': 'The reply ended while the connection was lost; its end is missing.',
  'stream-reset': 'The reply has to be read again from its start.',
  unreachable: 'The server cannot be reached; the reply goes on without its reader.',
};

/**
 * A ParleyClientError with the code `unavailable`: a turn's stream ended before the turn did. `cause` is the last trouble
 * that there was on the way, if any.
 */
export class ChatStreamError extends ParleyClientError {
  readonly reason: ChatStreamReason;

  constructor(reason: ChatStreamReason, cause?: unknown) {
    super('unavailable', MESSAGES[reason], { cause });
    this.reason = reason;
  }
}

/** Recognises a ChatStreamError by its shape, so that it also holds across two copies of this package. */
export function isChatStreamError(error: unknown, reason?: ChatStreamReason): error is ChatStreamError {
  if (!isParleyClientError(error) || !('reason' in error)) return false;
  return reason === undefined || error.reason === reason;
}

import { isParleyClientError, ParleyClientError } from '@parley/core';

/**
 * Why a chat's stream broke off.
 *
 * - `outcome-unknown`: the message was sent repeatedly for `giveUpMs` without a conclusive reply, so it may or may not
 *   have reached the server. Let the person decide: if it is sent again unchanged (`regenerate`), it counts once.
 * - `ended-unseen`: the turn ended while there was no connection, and its end can no longer be read.
 * - `stream-reset`: everything read so far is void, and no attached chat could discard it (`attach`).
 *   `reconnectToStream`, or `resumeStream()` of a chat, reads the turn again from its start.
 * - `unreachable`: no pod could be reached for `giveUpMs`. The turn continues, and `resumeStream()` finds it.
 */
export type ChatStreamReason = 'outcome-unknown' | 'ended-unseen' | 'stream-reset' | 'unreachable';

const MESSAGES: Readonly<Record<ChatStreamReason, string>> = {
  'outcome-unknown': 'The server did not confirm the message in time; it is unknown whether it arrived.',
  'ended-unseen': 'The reply ended while the connection was lost; its end is missing.',
  'stream-reset': 'The reply has to be read again from its start.',
  unreachable: 'The server cannot be reached; the reply continues there.',
};

/**
 * A ParleyClientError with the code `unavailable`: a turn's stream ended before the turn did. `cause` is the last
 * connection failure, if there was one.
 */
export class ChatStreamError extends ParleyClientError {
  readonly reason: ChatStreamReason;

  constructor(reason: ChatStreamReason, cause?: unknown) {
    super('unavailable', MESSAGES[reason], { cause });
    this.reason = reason;
  }
}

/**
 * Recognises a ChatStreamError by its properties, so that it also works across two copies of this package.
 *
 * @example
 * if (isChatStreamError(chat.error, 'outcome-unknown')) offerToSendAgain();
 * else if (isChatStreamError(chat.error)) await chat.resumeStream();
 */
export function isChatStreamError(error: unknown, reason?: ChatStreamReason): error is ChatStreamError {
  if (!isParleyClientError(error) || !('reason' in error)) return false;
  return reason === undefined || error.reason === reason;
}

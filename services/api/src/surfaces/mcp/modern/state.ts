import { randomUUID } from 'node:crypto';
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import type { Owner } from '@parley/core/domain/ids';
import type { ShownModes } from '../waiting/waits.ts';

/** The content of `requestState`, which names a call of its caller. It contains no secret, because the client can read it. */
export interface CallState {
  readonly call: string;
  /** When the call began, in ms since 1970 on the clock of the questions. */
  readonly at: number;
  /** The capabilities that the client declared at the beginning; absent in states of earlier builds. */
  readonly shows?: ShownModes;
  /** When the state expires, in seconds since 1970 on the clock of the questions. */
  readonly until: number;
  /** Distinguishes the states of two rounds that end in the same second, because a client may compare them. */
  readonly nonce: string;
}

// Longer than any question stays open.
const CODEC_SECONDS = 8 * 86_400;
const SECONDS_MIN = 600;
const MARGIN_SECONDS = 60;

interface CallStateDeps {
  readonly keys: readonly Uint8Array[];
  readonly owner: Owner;
  /** Identifies the tool and its arguments. */
  readonly digest: string;
  /** The clock on which questions expire, in ms since 1970. */
  readonly now: () => Promise<number>;
}

/**
 * Signs the state of one person's call of one tool with certain arguments, with the first key. No other call may use the state.
 * Each key can verify it, because clients keep states as long as questions are open.
 */
export function createCallState({ keys, owner: { tenant, userId }, digest, now }: CallStateDeps) {
  const bind = () => JSON.stringify([tenant, userId, 'tools/call', digest]);
  const codecs = keys.map((key) =>
    createRequestStateCodec<CallState>({ key, ttlSeconds: CODEC_SECONDS, bind }),
  );
  const [codec] = codecs;
  if (codec === undefined) throw new RangeError('A state needs a key.');
  return {
    /** Makes the state. It is valid until the last of these times (ms since 1970), as long as something can be answered. */
    async mint(
      call: Omit<CallState, 'until' | 'nonce'>,
      ends: readonly number[],
      ctx: ServerContext,
    ): Promise<string> {
      const until = endOf(ends, secondsOf(await now()));
      return codec.mint({ ...call, until, nonce: randomUUID() }, ctx);
    },
    /** Throws for a state that was changed, has expired or belongs to another caller or call. */
    async verify(state: string, ctx: ServerContext): Promise<CallState> {
      const verified = await Promise.any(codecs.map((each) => each.verify(state, ctx)));
      if (verified.until < secondsOf(await now())) throw new Error('expired');
      return verified;
    },
  };
}

function endOf(ends: readonly number[], now: number): number {
  return Math.max(now + SECONDS_MIN, ...ends.map((end) => Math.ceil(end / 1000) + MARGIN_SECONDS));
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}

import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { endsTurn, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import {
  type CallName,
  newName,
  type RequestName,
  runOfCall,
  storedCall,
  textOfRequest,
} from '../call-names.ts';
import type { McpDeps } from '../deps.ts';
import type { LeftCalls } from './left-calls.ts';

/** Determines the key under which a request begins its call. Equal calls share a key until the result was fetched. */
interface CallKeys {
  /** The key under which a request begins its call: the key of the first request with this name. */
  keyFor(owner: Owner, call: CallName, request: RequestName | undefined): Promise<CallKey>;
}

interface CallKey {
  readonly key: string;
  /** When the call ended, in ms since 1970, if that is long ago. */
  readonly endedAt?: number | undefined;
}

// A client that returns later than this after the end of its call begins a new one.
const UNFETCHED_MS = 600_000;

/** The name of the record of the running or unfetched call with a digest. */
export const callName = (digest: string): string => `mcp-call/${digest}`;

/** The name of the record of the call that a request began. */
export const requestName = (request: RequestName): string => `mcp-request/${textOfRequest(request)}`;

/** The prefix of the names of the records of a session's requests. */
export const requestsOf = (sessionId: string): string => `mcp-request/${sessionId}/`;

export function createCallKeys(
  { records, engine, callMs }: Pick<McpDeps, 'records' | 'engine' | 'callMs'>,
  leftCalls: Pick<LeftCalls, 'findTold' | 'isLeft'>,
): CallKeys {
  /** The key of the equal call whose result was not fetched, or else a new key. */
  async function joinedKey(owner: Owner, digest: string): Promise<CallKey & { readonly isNew: boolean }> {
    for (;;) {
      const minted = newName();
      const key = await records.putIfAbsent(owner, callName(digest), minted, callMs);
      if (key === minted) return { key, isNew: true };
      const run = await runOfCall(owner, key);
      const { isStored, endedAt } = await standingOf(run);
      if (await joins(run, isStored, endedAt)) return { key, endedAt, isNew: false };
      await records.remove(owner, callName(digest), key);
    }
  }

  async function joins(run: RunRef, isStored: boolean, endedAt: number | undefined): Promise<boolean> {
    // A call without events has just been named, unless a client has since left it.
    if (!isStored) return !(await leftCalls.isLeft(run));
    // A call about which a client was told is joined even later, because the person acts on a page in their own time. A task
    // has an id for that.
    return endedAt === undefined || (await leftCalls.findTold(run)) !== undefined;
  }

  /** Whether the events of a call are stored, and when the call ended if that is long ago. */
  async function standingOf(
    run: RunRef,
  ): Promise<{ readonly isStored: boolean; readonly endedAt?: number | undefined }> {
    let endedAt: number | undefined;
    let isStored = false;
    for await (const { at, event } of engine.replay(run)) {
      isStored = true;
      const turnEvent = turnEventOf(event);
      if (turnEvent !== undefined && endsTurn(turnEvent)) endedAt = at;
    }
    if (endedAt === undefined || (await records.now(run)) - endedAt <= UNFETCHED_MS) return { isStored };
    return { isStored, endedAt };
  }

  return {
    async keyFor(owner, { digest: call, kind }, request) {
      const { key, isNew, endedAt } = await joinedKey(owner, call);
      if (request === undefined) return { key, endedAt };
      const stored = await records.putIfAbsent(owner, requestName(request), `${key}.${call}.${kind}`, callMs);
      const { key: first, digest: callOfFirst } = storedCall(stored);
      // If the key came from another request it stays, because that request's call is under way.
      if (isNew && first !== key) await records.remove(owner, callName(call), key);
      if (callOfFirst === call) return { key: first, endedAt: first === key ? endedAt : undefined };
      throw new ParleyError('invalid_request', 'The id of this request was used before.');
    },
  };
}

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

/** Under what key a request begins its call. Equal calls have one key while the result was not fetched. */
interface CallKeys {
  /** The key under which a request begins its call: that of the first request with this name. */
  keyFor(owner: Owner, call: CallName, request: RequestName | undefined): Promise<CallKey>;
}

interface CallKey {
  readonly key: string;
  /** When the call ended, in ms since 1970, where that is long ago. */
  readonly endedAt?: number | undefined;
}

// A client that returns later than this after the end of its call asks anew.
const UNFETCHED_MS = 600_000;

/** The record of the running or unfetched call with a digest. */
export const callName = (digest: string): string => `mcp-call/${digest}`;

/** The record of the call that a request began. */
export const requestName = (request: RequestName): string => `mcp-request/${textOfRequest(request)}`;

/** What the names of the records of a session's requests begin with. */
export const requestsOf = (sessionId: string): string => `mcp-request/${sessionId}/`;

export function createCallKeys(
  { records, engine, callMs }: Pick<McpDeps, 'records' | 'engine' | 'callMs'>,
  leftCalls: Pick<LeftCalls, 'findTold' | 'isLeft'>,
): CallKeys {
  /** The key of the equal call whose result was not fetched, or a new one. */
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
    // Without events it has just been named, unless a client has left it since.
    if (!isStored) return !(await leftCalls.isLeft(run));
    // A person acts on a page when they find the time, and says so to their client later. A task has an id for that.
    return endedAt === undefined || (await leftCalls.findTold(run)) !== undefined;
  }

  /** Whether the events of a call are stored, and when it ended, if that is long ago. */
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
      // A key that another request began with stays: its call is under way.
      if (isNew && first !== key) await records.remove(owner, callName(call), key);
      if (callOfFirst === call) return { key: first, endedAt: first === key ? endedAt : undefined };
      throw new ParleyError('invalid_request', 'The id of this request was used before.');
    },
  };
}

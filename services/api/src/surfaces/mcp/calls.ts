/** Begins, joins and ends the calls of MCP clients, on every pod. Streaming a call is in `legacy/` and `modern/`. */

import { TIMEOUT_SECONDS_MAX } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import type { Caller } from '@parley/shared/domain/caller';
import type { Delivery, RunRef, Support } from '@parley/shared/domain/runs/run';
import { principalOf } from '../../turns/principal.ts';
import type { Turns } from '../../turns/turns.ts';
import {
  checkMessage,
  joinDigest,
  keyOfCall,
  newName,
  type RequestName,
  runOfCall,
  storedCall,
  textOfRequest,
} from './call-names.ts';
import type { RequestedRead } from './content.ts';
import type { McpDeps } from './deps.ts';
import type { CallKind } from './outcome.ts';
import { callName, createCallKeys, requestName, requestsOf } from './waiting/call-keys.ts';
import { createLeftCalls } from './waiting/left-calls.ts';

/** A client's `tools/call`, or a read during which its server asks. */
interface ToolCallRequest {
  readonly caller: Caller & { readonly kind: 'user' };
  /** The tool, or the method of the read. */
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly read?: RequestedRead | undefined;
  readonly support: Support;
  /** The OAuth client of the caller's token. */
  readonly clientId?: string | undefined;
  readonly delivery: Delivery;
  /** The request's session and id, if it has a session. */
  readonly request?: RequestName & { readonly isOpen: IsOpen };
  /** Checks the call against the tool that it names, before anything begins. */
  readonly check?: (target: FoundTarget) => void;
  /** Aborts the look-up of the tool. */
  readonly signal: AbortSignal;
}

/** True while the session of a request is open. */
export type IsOpen = () => Promise<boolean>;

/** A call that is under way, or whose result was not fetched yet. */
export interface StartedCall {
  readonly run: RunRef;
  /** Identifies the tool, the arguments and the client's capabilities. */
  readonly digest: string;
  readonly kind: CallKind;
  /** True if an earlier request began it. */
  readonly isRepeat: boolean;
  /** When it ended, in ms since 1970; present only if its client may no longer expect the result. */
  readonly endedAt?: number | undefined;
  /** Identifies this request among the followers of the call. */
  readonly follower: string;
  /** When it becomes a task, for a client that supports tasks. */
  readonly task?: FoundTarget['task'] | undefined;
}

/** The calls of tools. Each is a turn in an unlisted conversation of its own. */
export interface Calls {
  /**
   * Begins a call. A repeated request finds its call. A request with the same tool and arguments, from a client with the same
   * capabilities, joins the call until its result was fetched, because clients repeat calls after a time-out. Throws what a
   * turn's `begin` throws, and `invalid_request` for a tool that the caller may not use.
   */
  begin(request: ToolCallRequest): Promise<StartedCall>;
  /** The call that a request began on any pod. */
  find(owner: Owner, request: RequestName): Promise<StartedCall | undefined>;
  /** A call that its caller names by its key. Throws `invalid_request` for a tool that the caller may no longer use. */
  resume(
    call: NamedTool & Pick<ToolCallRequest, 'arguments' | 'clientId'>,
    key: string,
  ): Promise<StartedCall>;
  /**
   * Makes this request the latest follower of the call, as `begin` and `resume` do. Stops the call if the request's session has
   * ended since then, because `stopAll` did not see this follower.
   */
  follow(call: StartedCall, isOpen?: IsOpen): Promise<void>;
  /**
   * Records that the client was told where its person acts, and that the request no longer follows the call. The next equal
   * call joins it while the person can act, and for the retention after that. The end of a session does not stop it. `upTo`:
   * when the latest of the open questions was asked, in ms since 1970.
   */
  told(call: StartedCall, upTo: number): Promise<void>;
  /** When the latest question was asked about which a client was told, in ms since 1970; undefined if none. */
  toldUpTo(call: Pick<StartedCall, 'run'>): Promise<number | undefined>;
  /** Records that the client has the call as a task, and that the request no longer follows the call. */
  handOver(call: StartedCall): Promise<void>;
  /** Like `release`, for a task whose result was fetched or that was cancelled. */
  releaseTask(run: RunRef): Promise<void>;
  /** The result was fetched, so the next equal call is a new one; some seconds later, if a client was told. */
  release(call: StartedCall): Promise<void>;
  /** Stops a call on any pod, unless a later request follows it. */
  stop(call: StartedCall): Promise<void>;
  /** Like `stop`, for a client that no longer waits. Calls about which a client was told, and tasks, continue. */
  leave(call: StartedCall): Promise<void>;
  /** Stops the session's calls, except tasks, calls followed by other sessions, and those left to a person. */
  stopAll(owner: Owner, sessionId: string): Promise<void>;
}

// How long equal calls still join a fetched call, because programs repeat such a call several times at once.
const FETCHED_MS = 10_000;

export function createCalls(deps: Pick<McpDeps, 'records' | 'turns' | 'engine' | 'callMs'>): Calls {
  const { records, turns, callMs } = deps;
  // As long as the call's run and its questions may last: a task may ask at any time, and operators move deadlines.
  const leftMs = callMs + TIMEOUT_SECONDS_MAX * 1000;
  const followerName = (run: RunRef) => `mcp-follower/${keyOfCall(run)}`;
  const leftCalls = createLeftCalls(records);
  const { keyFor } = createCallKeys(deps, leftCalls);

  /** Ends the following by this request. Equal calls join the call as long as it is stored. */
  async function unfollow({ run, digest, follower }: StartedCall): Promise<void> {
    await Promise.all([
      records.read(run, callName(digest), leftMs),
      records.remove(run, followerName(run), follower),
    ]);
  }

  async function told(call: StartedCall, upTo: number): Promise<void> {
    await leftCalls.noteTold(call.run, upTo, leftMs);
    await unfollow(call);
  }

  async function handOver(call: StartedCall): Promise<void> {
    await leftCalls.noteTask(call.run, call.digest, leftMs);
    await unfollow(call);
  }

  async function releaseTask(run: RunRef): Promise<void> {
    const digest = await leftCalls.digestOfTask(run);
    if (digest !== undefined) await release({ run, digest });
  }

  async function release({ run, digest }: Pick<StartedCall, 'run' | 'digest'>): Promise<void> {
    // A client of another request may have been told about the call, whichever request began it.
    const state = await leftCalls.findTold(run);
    if (state === undefined) return forget({ run, digest });
    if (state === 'fetched') return;
    const key = keyOfCall(run);
    await Promise.all([
      records.replace(run, { name: callName(digest), from: key, to: key, ttlMs: FETCHED_MS }),
      leftCalls.fetched(run, FETCHED_MS),
      records.remove(run, followerName(run)),
    ]);
  }

  async function forget({ run, digest }: Pick<StartedCall, 'run' | 'digest'>): Promise<void> {
    await Promise.all([
      records.remove(run, callName(digest), keyOfCall(run)),
      records.remove(run, followerName(run)),
      leftCalls.forget(run),
    ]);
  }

  async function follow(call: StartedCall, isOpen?: IsOpen): Promise<void> {
    const { run, follower } = call;
    for (;;) {
      const latest = await records.putIfAbsent(run, followerName(run), follower, callMs);
      if (latest === follower) break;
      await records.remove(run, followerName(run), latest);
    }
    if (isOpen !== undefined && !(await isOpen())) await stop(call);
  }

  const stop = (call: StartedCall) => stopFollowed(call, (latest) => latest === call.follower);

  async function stopFollowed(
    call: Pick<StartedCall, 'run' | 'digest'>,
    isOwn: (follower: string | undefined) => boolean,
  ): Promise<void> {
    if (!isOwn(await records.read(call.run, followerName(call.run)))) return;
    await forget(call);
    await turns.stop(call.run);
  }

  async function targetOf(call: NamedTool): Promise<BegunTarget> {
    const { caller, name, read, signal, support, check } = call;
    if (read !== undefined) {
      const viewer = turns.viewerOf(support);
      const reader = { caller, principal: principalOf(caller), viewer, signal };
      const found = await turns.content.findRead(reader, read);
      if (found === undefined)
        throw new ParleyError('invalid_request', 'There is no such prompt or resource.');
      return { type: 'read', ...found };
    }
    const target = await turns.findOffered(caller, name, signal, support);
    if (target === undefined) throw new ParleyError('invalid_request', `Unknown tool: ${name}`);
    check?.(target);
    return target;
  }

  return {
    told,
    async toldUpTo({ run }) {
      const state = await leftCalls.findTold(run);
      return state === 'fetched' ? undefined : state?.upTo;
    },
    handOver,
    releaseTask,
    release,
    follow,
    async begin(call) {
      const target = await targetOf(call);
      const kind = target.type;
      if (kind === 'agent') checkMessage(call.arguments);
      const owner = principalOf(call.caller);
      const digest = joinDigest(call);
      const { key, endedAt } = await keyFor(owner, { digest, kind }, call.request);
      const run = await runOfCall(owner, key);
      const { isRepeat } = await beginRun(turns, target, call, {
        conversation: run,
        repeatable: { key: `mcp ${key}`, digest },
      });
      const follower = call.request === undefined ? newName() : textOfRequest(call.request);
      const { task } = target;
      const started = {
        run,
        digest,
        kind,
        isRepeat,
        endedAt: isRepeat ? endedAt : undefined,
        follower,
        task,
      };
      await follow(started, call.request?.isOpen);
      return started;
    },
    async find(owner, request) {
      const stored = await records.read(owner, requestName(request));
      if (stored === undefined) return undefined;
      const { key, digest, kind } = storedCall(stored);
      const run = await runOfCall(owner, key);
      const follower = textOfRequest(request);
      return { run, digest, kind, isRepeat: true, follower };
    },
    async resume(call, key) {
      const { type: kind, task } = await targetOf(call);
      const run = await runOfCall(principalOf(call.caller), key);
      const started = { run, digest: joinDigest(call), kind, isRepeat: true, follower: newName(), task };
      await follow(started);
      return started;
    },
    stop,
    async leave(call) {
      if (!(await leftCalls.isLeft(call.run))) await stop(call);
    },
    async stopAll(owner, sessionId) {
      const begun = await records.list(owner, requestsOf(sessionId));
      const stops = begun.map(async ({ value }) => {
        const { key, digest } = storedCall(value);
        // Programs end their session after each call, while the person still acts in another place.
        const run = await runOfCall(owner, key);
        if (await leftCalls.isLeft(run)) return;
        await stopFollowed({ run, digest }, (latest) => latest?.startsWith(`${sessionId}/`) === true);
      });
      await Promise.all(stops);
    },
  };
}

type NamedTool = Pick<ToolCallRequest, 'caller' | 'name' | 'read' | 'signal' | 'support' | 'check'>;
export type FoundTarget = NonNullable<Awaited<ReturnType<Turns['findOffered']>>>;
type ReadTarget = NonNullable<Awaited<ReturnType<Turns['content']['findRead']>>>;
type BegunTarget = FoundTarget | ({ readonly type: 'read'; readonly task?: undefined } & ReadTarget);

function beginRun(
  turns: McpDeps['turns'],
  target: BegunTarget,
  { caller, arguments: args, support, delivery }: ToolCallRequest,
  place: {
    readonly conversation: RunRef;
    readonly repeatable: { readonly key: string; readonly digest: string };
  },
) {
  const common = { ...place, support, delivery };
  if (target.type === 'tool') return turns.beginCall({ ...common, target, arguments: args });
  if (target.type === 'read')
    return turns.beginCall({
      ...common,
      target,
      arguments: { params: target.params, isScoped: target.isScoped },
    });
  const agent = turns.admitToAgent(caller, target.agent);
  return turns.begin({
    ...common,
    agent,
    input: [{ role: 'user', content: String(args.message) }],
    before: [],
    unlisted: true,
  });
}

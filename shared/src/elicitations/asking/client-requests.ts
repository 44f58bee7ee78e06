/**
 * Requests of MCP servers to the program that made the call, such as sampling: stored, so that the reply may come to any pod.
 * Questions to people are not here; they are elicitations.
 */

import type { Owner, StreamRef } from '@parley/core/domain/ids';
import { z } from 'zod';
import { retryWhileUnavailable, SleeperReads } from '../../async/retry-while-unavailable.ts';
import { WakeSignal } from '../../async/wake-signal.ts';
import {
  CLIENT_METHODS,
  type ClientMethod,
  type ClientReplied,
  ClientReply,
  readClientReply,
} from '../../domain/runs/client-request.ts';
import type { EventBus } from '../../ports/elicitations/event-bus.ts';
import type { OwnerRecordsByKind } from '../../ports/owner-records.ts';

/** A request to the client of a turn. An id means the same request on every pod. */
interface NewClientRequest {
  readonly id: string;
  readonly stream: StreamRef;
  readonly method: ClientMethod;
  readonly timeoutMs: number;
}

/** A stored request, created by this pod or by an earlier owner of its run. */
interface BegunClientRequest {
  /** When the request ends without a reply, in ms since 1970 on the clock of the records. */
  readonly expiresAt: number;
  /** False when the request has already ended; then the client is not asked. */
  readonly isOpen: boolean;
}

/**
 * Requests to the clients of turns, which no person answers. Each is a record of its owner. It takes one reply, on any pod,
 * which then wakes the pod of the call. Every method throws `unavailable`.
 */
export interface ClientRequests {
  begin(request: NewClientRequest): Promise<BegunClientRequest>;
  /**
   * Waits for the reply to a stored request. Undefined at its deadline, after which no reply is accepted. Throws the signal's
   * reason when aborted.
   */
  wait(
    request: Pick<NewClientRequest, 'id' | 'stream'> & Pick<BegunClientRequest, 'expiresAt'>,
    signal: AbortSignal,
  ): Promise<ClientReply | undefined>;
  /** Ends the request, after which no reply is accepted. */
  end(owner: Owner, id: string): Promise<void>;
  isOpen(owner: Owner, id: string): Promise<boolean>;
  /**
   * Stores the client's reply. A reply is ignored when the request is unknown or has ended, or belongs to another stream than
   * `streamRequestId`. This is no error, because a client cannot know that its reply is too late.
   */
  answer(
    owner: Owner,
    id: string,
    sent: { readonly result?: unknown; readonly error?: unknown },
    streamRequestId?: string,
  ): Promise<void>;
}

const StoredRequest = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('open'),
    method: z.enum(CLIENT_METHODS),
    streamRequestId: z.string(),
    expiresAt: z.number(),
  }),
  z.object({ state: z.literal('answered'), expiresAt: z.number(), reply: ClientReply }),
  z.object({ state: z.literal('ended'), expiresAt: z.number() }),
]);
type StoredRequest = z.infer<typeof StoredRequest>;

const PREFIX = 'cr_';
// This time counts from the deadline. Another pod may continue the call after the other questions of its round are answered,
// and reads the reply only then.
const KEPT_MS = 3_600_000;
const RECHECK_MS = 15_000;

/** True for the id of a request to a client; ids of elicitations have another prefix. */
export function isClientRequestId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The id of a request, made from its digest. */
export function clientRequestId(digest: string): string {
  return `${PREFIX}${digest}`;
}

interface ClientRequestDeps {
  readonly ownerRecords: Pick<OwnerRecordsByKind, 'mcp'>;
  readonly clientReplies: EventBus<ClientReplied>;
}

export function createClientRequests({
  ownerRecords: { mcp: records },
  clientReplies,
}: ClientRequestDeps): ClientRequests {
  const nameOf = (id: string) => `mcp-asked/${id}`;

  async function read(
    owner: Owner,
    id: string,
  ): Promise<{ text: string; stored: StoredRequest } | undefined> {
    const text = await records.read(owner, nameOf(id));
    return text === undefined ? undefined : { text, stored: StoredRequest.parse(JSON.parse(text)) };
  }

  /** Changes the state of an open request. Only the first change succeeds; it returns the request as it was. */
  async function move(owner: Owner, id: string, next: (open: OpenRequest) => StoredRequest | undefined) {
    const found = await read(owner, id);
    if (found?.stored.state !== 'open') return undefined;
    const to = next(found.stored);
    if (to === undefined) return undefined;
    const ttlMs = KEPT_MS + Math.max(0, to.expiresAt - (await records.now(owner)));
    const change = { name: nameOf(id), from: found.text, to: JSON.stringify(to), ttlMs };
    return (await records.replace(owner, change)) ? found.stored : undefined;
  }

  const end = async (owner: Owner, id: string) =>
    void (await move(owner, id, ({ expiresAt }) => ({ state: 'ended', expiresAt })));

  /** The reply of an ended request, or `open`. A request past its deadline is first ended. */
  async function outcome(
    owner: Owner,
    id: string,
    isDue: boolean,
  ): Promise<'open' | { readonly reply: ClientReply | undefined }> {
    if (isDue) await end(owner, id);
    const stored = (await read(owner, id))?.stored;
    if (stored?.state === 'open') return 'open';
    return { reply: stored?.state === 'answered' ? stored.reply : undefined };
  }

  return {
    async begin({ id, stream, method, timeoutMs }) {
      const { streamRequestId } = stream;
      const expiresAt = (await records.now(stream)) + timeoutMs;
      const open: StoredRequest = { state: 'open', method, streamRequestId, expiresAt };
      const text = await records.putIfAbsent(stream, nameOf(id), JSON.stringify(open), timeoutMs + KEPT_MS);
      const stored = StoredRequest.parse(JSON.parse(text));
      return { expiresAt: stored.expiresAt, isOpen: stored.state === 'open' };
    },
    async wait({ id, stream, expiresAt }, signal) {
      const wake = new WakeSignal(signal);
      const { unsubscribe } = clientReplies.subscribe(stream, (message) => {
        if (message.type !== 'event' || message.event.requestId === id) wake.notify();
      });
      const reads = new SleeperReads();
      try {
        const now = await retryWhileUnavailable(() => records.now(stream), signal);
        const until = performance.now() + expiresAt - now;
        for (;;) {
          const found = await reads.read(() => outcome(stream, id, performance.now() >= until));
          if (found !== undefined && found !== 'open') return found.reply;
          const nextAt = performance.now() + reads.pauseMs(RECHECK_MS);
          await wake.sleep(found === undefined ? nextAt : Math.min(nextAt, until));
          if (wake.woken() === 'notified') reads.notified();
        }
      } finally {
        unsubscribe();
        wake.close();
      }
    },
    end,
    isOpen: async (owner, id) => (await read(owner, id))?.stored.state === 'open',
    async answer(owner, id, sent, streamRequestId) {
      const taken = await move(owner, id, (open) =>
        streamRequestId === undefined || streamRequestId === open.streamRequestId
          ? { state: 'answered', expiresAt: open.expiresAt, reply: readClientReply(open.method, sent) }
          : undefined,
      );
      if (taken === undefined) return;
      const { streamRequestId: of } = taken;
      // The wake is only a hint: the reply is stored, and the pod of the call also looks for it at intervals.
      await clientReplies
        .publish({ ...owner, streamRequestId: of }, { requestId: id })
        .catch(() => undefined);
    },
  };
}

type OpenRequest = Extract<StoredRequest, { readonly state: 'open' }>;

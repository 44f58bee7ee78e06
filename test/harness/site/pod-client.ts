import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Action, Owner } from '../history/events.ts';
import { serviceKeyOf } from '../load/load-env.ts';
import { createTokenCache } from '../load/people.ts';
import { paced } from '../pace.ts';

/** A reply; status 0 when none came: a reset, a truncated body, or no reply within the caller's patience. */
export interface Reply {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | undefined;
  readonly replayed: boolean;
  readonly body: Record<string, unknown>;
}

/** A question as its asker sees it. */
export interface Asked {
  readonly id: string;
  readonly owner: Owner;
  readonly streamRequestId: string;
}

export interface AskMore {
  readonly owner?: Owner;
  readonly streamRequestId?: string;
  readonly message?: string;
  readonly timeoutSeconds?: number;
  readonly webhookUrl?: string;
  readonly idempotencyKey?: string;
}

export interface Answer {
  readonly action: Action;
  readonly content?: unknown;
  readonly responseId?: string;
}

export type PodClient = ReturnType<typeof createPodClient>;

const FORM = {
  type: 'object',
  properties: { choice: { type: 'string', maxLength: 200 } },
  required: ['choice'],
};
// Longer than the longest long poll, and longer than a pod needs to notice that Redis is unreachable.
const PATIENCE_MS = 90_000;
/** A pod waits so long for a reply of Redis, and replies 503 then. */
export const COMMAND_TIMEOUT_MS = 2_000;
const REPEAT_MS = 200;
const GIVE_UP_MS = paced(60_000);

/** A person without any question so far. */
export function newOwner(tenant = 'acme'): Owner {
  return { tenant, userId: `user-${randomUUID()}` };
}

/** An accepted answer with this choice. */
export function choose(choice: string): Answer {
  return { action: 'accept', content: { choice } };
}

/** The token of a person. */
export const tokenOf = createTokenCache();

/**
 * Calls one pod (or balancer) as askers and people do, once per call; returns every reply, errors included. A caller
 * waits for `patienceMs`, by default longer than any long poll.
 *
 * The calls of `patient` are repeated where a busy machine kept Redis from replying to the pod in time. It has no waits,
 * because a wait that takes long may have been refused for another reason.
 */
export function createPodClient({ url }: { readonly url: string }, patienceMs = PATIENCE_MS) {
  const call: Call = async (method, path, token, more = {}) => {
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more.headers },
        ...(more.body !== undefined && { body: JSON.stringify(more.body) }),
        signal: AbortSignal.timeout(patienceMs),
      });
      const body = (await response.json()) as Record<string, unknown>;
      return {
        status: response.status,
        code: typeof body.code === 'string' ? body.code : undefined,
        retryAfter: response.headers.get('retry-after') ?? undefined,
        replayed: response.headers.get('idempotent-replayed') === 'true',
        body,
      };
    } catch {
      return { status: 0, code: undefined, retryAfter: undefined, replayed: false, body: {} };
    }
  };
  const timed = createTimedCalls();
  const repeated: Call = async (...request) => {
    for (const since = performance.now(); ; await sleep(REPEAT_MS)) {
      const { reply, isLate } = await timed(() => call(...request));
      if (!isLate || performance.now() - since > GIVE_UP_MS) return reply;
    }
  };
  const { wait: _wait, ...patient } = callsBy(repeated, randomUUID);
  return { ...callsBy(call), patient };
}

/**
 * Judges the replies of one pod. A 503 is late where the pod had waited in vain for Redis, and after such a one until a call
 * succeeds: the pod then lacks its connection. Any other 503 is the pod's own.
 */
export function createTimedCalls() {
  let isLate = false;
  return async (call: () => Promise<Reply>): Promise<{ readonly reply: Reply; readonly isLate: boolean }> => {
    const began = performance.now();
    const reply = await call();
    const isUnavailable = reply.status === 503 && reply.code === 'unavailable';
    isLate = isUnavailable && (isLate || performance.now() - began >= COMMAND_TIMEOUT_MS);
    return { reply, isLate };
  };
}

type Call = (method: string, path: string, token: string, more?: CallMore) => Promise<Reply>;

/** `newKey`: the idempotency key of an ask that has none. */
function callsBy(call: Call, newKey: () => string | undefined = () => undefined) {
  function tryToAsk({
    owner = newOwner(),
    idempotencyKey = newKey(),
    ...more
  }: AskMore = {}): Promise<Reply> {
    return call('POST', '/v1/elicitations', serviceKeyOf(owner.tenant), {
      body: {
        userId: owner.userId,
        mode: 'form',
        message: 'Which one?',
        requestedSchema: FORM,
        timeoutSeconds: 600,
        ...more,
      },
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    });
  }

  return {
    call,
    tryToAsk,
    /** Asks; throws when that fails. */
    async ask(more: AskMore = {}): Promise<Asked> {
      const owner = more.owner ?? newOwner();
      const reply = await tryToAsk({ ...more, owner });
      if (reply.status !== 201) throw new Error(`asking failed with ${reply.status} ${reply.code}`);
      const { elicitationId, streamRequestId } = reply.body;
      return { id: String(elicitationId), owner, streamRequestId: String(streamRequestId) };
    },
    async answer({ id, owner }: Asked, answer: Answer): Promise<Reply> {
      return call('POST', `/v1/elicitations/${id}/response`, await tokenOf(owner), { body: answer });
    },
    async read({ id, owner }: Asked): Promise<Reply> {
      return call('GET', `/v1/elicitations/${id}`, await tokenOf(owner));
    },
    /** One long poll. */
    wait({ id, owner }: Asked, timeoutSeconds = 60): Promise<Reply> {
      const path = `/v1/elicitations/${id}/wait?timeoutSeconds=${timeoutSeconds}`;
      return call('GET', path, serviceKeyOf(owner.tenant));
    },
  };
}

interface CallMore {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

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
 * The calls of `patient` are repeated while Redis does not reply to the pod in time, which a busy machine makes happen, and a
 * wait also while the question is open.
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
  const repeated: Call = async (...request) => {
    for (const since = performance.now(); ; await sleep(REPEAT_MS)) {
      const reply = await call(...request);
      const isOpen = request[1].includes('/wait?') && reply.body.status === 'pending';
      const isKnown = reply.status !== 503 && !isOpen;
      if (isKnown || performance.now() - since > GIVE_UP_MS) return reply;
    }
  };
  return { ...callsBy(call), patient: callsBy(repeated, randomUUID) };
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

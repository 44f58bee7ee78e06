import { randomUUID } from 'node:crypto';
import type { Action, Owner } from '../harness/history/events.ts';

import { serviceKeyOf } from '../load/load-env.ts';
import { tokenBook } from '../load/people.ts';

/** What came back; status 0 when nothing did: a reset, a torn body, or no reply for as long as the caller waited. */
export interface Reply {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfter: string | undefined;
  readonly replayed: boolean;
  readonly body: Record<string, unknown>;
}

/** A question as the asker knows it. */
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

export type Door = ReturnType<typeof doorTo>;

const FORM = {
  type: 'object',
  properties: { choice: { type: 'string', maxLength: 200 } },
  required: ['choice'],
};
// Longer than the longest long poll, and than any pod takes to notice that Redis is gone.
const PATIENCE_MS = 90_000;

/** A person nobody asked before. */
export function newOwner(tenant = 'acme'): Owner {
  return { tenant, userId: `user-${randomUUID()}` };
}

/** An answer that says `choice`. */
export function choose(choice: string): Answer {
  return { action: 'accept', content: { choice } };
}

/** The token of a person. */
export const tokenOf = tokenBook();

/**
 * Calls one pod (or balancer) as askers and people do, once each; what it says is returned, whatever it is. A caller
 * waits for `patienceMs`, longer than any long poll unless told.
 */
export function doorTo({ url }: { readonly url: string }, patienceMs = PATIENCE_MS) {
  async function call(method: string, path: string, token: string, more: CallMore = {}): Promise<Reply> {
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
  }

  function tryToAsk({ owner = newOwner(), idempotencyKey, ...more }: AskMore = {}): Promise<Reply> {
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

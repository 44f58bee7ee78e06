import { randomUUID } from 'node:crypto';
import type { Action, ElicitationStatus, Owner, Seen } from '../history/events.ts';
import type { HistoryRecorder } from '../history/recorder.ts';
import { untilKnown } from './until-known.ts';

/** A reply, or 0 when none came: a timeout, a reset, a torn body. */
export interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> | undefined;
}

export interface DriverOptions {
  /** Sends each request to some pod. */
  readonly fetch: typeof fetch;
  readonly history: HistoryRecorder;
  /** Service key by tenant, user token by owner. */
  readonly serviceKey: (tenant: string) => string;
  readonly userToken: (owner: Owner) => Promise<string>;
  /** Give up on a request after this long; its outcome is then unknown. */
  readonly requestTimeoutMs?: number;
  /** How long each long poll lasts at most. */
  readonly pollSeconds?: number;
}

export interface Question {
  readonly mode: 'form' | 'url';
  readonly completion?: 'server' | 'client';
  readonly timeoutSeconds: number;
  readonly streamRequestId: string;
}

export type Driver = ReturnType<typeof createDriver>;

const REQUEST_TIMEOUT_MS = 15_000;
const POLL_SECONDS = 5;
const LIST = '/v1/elicitations?limit=100';
const FORM = {
  type: 'object',
  properties: { choice: { type: 'string', maxLength: 64 }, count: { type: 'integer' } },
  required: ['choice'],
};

/** Calls the HTTP API as askers and people would, and records each reply. */
export function createDriver(options: DriverOptions) {
  const { history, requestTimeoutMs = REQUEST_TIMEOUT_MS, pollSeconds = POLL_SECONDS } = options;

  async function call(
    method: string,
    path: string,
    token: string,
    body?: unknown,
    headers?: Record<string, string>,
    timeoutMs = requestTimeoutMs,
  ): Promise<Reply> {
    try {
      const response = await options.fetch(`http://pod${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch {
      return { status: 0, body: undefined };
    }
  }

  /** Asks with one idempotency key until the outcome is known, so that the question is asked once. */
  async function ask(owner: Owner, question: Question): Promise<string | undefined> {
    const idempotencyKey = randomUUID();
    const body = {
      userId: owner.userId,
      streamRequestId: question.streamRequestId,
      mode: question.mode,
      message: 'Which one?',
      timeoutSeconds: question.timeoutSeconds,
      ...(question.mode === 'form'
        ? { requestedSchema: FORM }
        : { url: 'https://example.com/page', completion: question.completion ?? 'client' }),
    };
    const mode =
      question.mode === 'form'
        ? ({ mode: 'form' } as const)
        : ({ mode: 'url', completion: question.completion ?? 'client' } as const);
    const reply = await untilKnown(async () => {
      const startedAt = performance.now();
      const one = await call('POST', '/v1/elicitations', options.serviceKey(owner.tenant), body, {
        'idempotency-key': idempotencyKey,
      });
      history.record({
        type: 'ask',
        ...mode,
        owner,
        streamRequestId: question.streamRequestId,
        idempotencyKey,
        elicitationId: readText(one, 'elicitationId'),
        createdAt: readTime(one, 'createdAt'),
        expiresAt: readTime(one, 'expiresAt'),
        httpStatus: one.status,
        code: readText(one, 'code'),
        startedAt,
        at: performance.now(),
      });
      return one;
    });
    return reply.status === 201 ? readText(reply, 'elicitationId') : undefined;
  }

  /** Answers once; the reply may be unknown. */
  async function respond(
    elicitationId: string,
    by: Owner,
    answer: { action: Action; content?: unknown; responseId?: string },
  ): Promise<Reply> {
    const responseId = answer.responseId ?? randomUUID();
    const startedAt = performance.now();
    const reply = await call(
      'POST',
      `/v1/elicitations/${elicitationId}/response`,
      await options.userToken(by),
      {
        ...answer,
        responseId,
      },
    );
    history.record({
      type: 'respond',
      elicitationId,
      by,
      responseId,
      action: answer.action,
      content: answer.content,
      httpStatus: reply.status,
      code: readText(reply, 'code'),
      recorded: readRecorded(reply),
      startedAt,
      at: performance.now(),
    });
    return reply;
  }

  /** Repeats an answer with the same response id until the outcome is known. */
  async function respondUntilKnown(
    elicitationId: string,
    by: Owner,
    answer: { action: Action; content?: unknown },
  ): Promise<Reply> {
    const responseId = randomUUID();
    return untilKnown(() => respond(elicitationId, by, { ...answer, responseId }));
  }

  async function command(type: 'complete' | 'withdraw', elicitationId: string, owner: Owner): Promise<Reply> {
    const startedAt = performance.now();
    const key = options.serviceKey(owner.tenant);
    const reply =
      type === 'complete'
        ? await call('POST', `/v1/elicitations/${elicitationId}/complete`, key)
        : await call('DELETE', `/v1/elicitations/${elicitationId}`, key, { reason: 'superseded' });
    history.record({
      type,
      elicitationId,
      by: { tenant: owner.tenant },
      httpStatus: reply.status,
      code: readText(reply, 'code'),
      recorded: readRecorded(reply),
      startedAt,
      at: performance.now(),
    });
    return reply;
  }

  /**
   * Waits by long polls, on another pod each time, until it ended or `withinMs` passed; counted from when `from`
   * resolves, where `from` is given: a delayed recording of the answer then does not count as a delayed notification.
   */
  async function waitUntilEnded(
    elicitationId: string,
    tenant: string,
    withinMs: number,
    from?: Promise<unknown>,
  ): Promise<void> {
    let startedAt = performance.now();
    from?.then(() => {
      startedAt = performance.now();
    });
    for (;;) {
      const reply = await call(
        'GET',
        `/v1/elicitations/${elicitationId}/wait?timeoutSeconds=${pollSeconds}`,
        options.serviceKey(tenant),
        undefined,
        undefined,
        pollSeconds * 1000 + requestTimeoutMs,
      );
      const seen = reply.status === 200 ? readSeen(reply.body) : undefined;
      const over = performance.now() - startedAt >= withinMs;
      if (!over && (seen === undefined || seen.status === 'pending' || seen.status === 'opened')) {
        if (seen === undefined) await sleep(250 + Math.random() * 500);
        continue;
      }
      history.record({
        type: 'wait',
        elicitationId,
        deadlineMs: withinMs,
        startedAt,
        at: performance.now(),
        outcome: seen?.status ?? 'error',
        action: seen?.action,
        content: seen?.content,
        serverTime: seen?.serverTime,
      });
      return;
    }
  }

  async function read(elicitationId: string, by: Owner, final: boolean): Promise<Reply> {
    const startedAt = performance.now();
    const reply = await call('GET', `/v1/elicitations/${elicitationId}`, await options.userToken(by));
    const seen = readRecorded(reply);
    const at = performance.now();
    if (seen === undefined || reply.status !== 200) return reply;
    if (final) recordFinal(seen, reply.body, by);
    else history.record({ type: 'read', elicitationId, by, ...seen, startedAt, at });
    return reply;
  }

  function recordFinal(seen: Seen, body: Record<string, unknown> | undefined, owner: Owner): void {
    history.record({
      type: 'final',
      elicitationId: String(body?.elicitationId),
      status: seen.status,
      action: seen.action,
      content: seen.content,
      owner,
      expiresAt: Date.parse(String(body?.expiresAt)),
      settledAt: body?.settledAt === undefined ? undefined : Date.parse(String(body.settledAt)),
      at: performance.now(),
    });
  }

  /** Reads the end of every question to `owner`, a page at a time. */
  async function readFinals(owner: Owner): Promise<void> {
    let path: string | undefined = LIST;
    while (path !== undefined) {
      const page = path;
      const token = await options.userToken(owner);
      const reply = await untilKnown(() => call('GET', page, token));
      if (reply.status !== 200) return;
      for (const one of (reply.body?.elicitations ?? []) as Record<string, unknown>[]) {
        const seen = readSeen(one);
        if (seen !== undefined) recordFinal(seen, one, owner);
      }
      const next = readText(reply, 'nextCursor');
      path = next === undefined ? undefined : `${LIST}&cursor=${next}`;
    }
  }

  return { ask, respond, respondUntilKnown, command, waitUntilEnded, read, readFinals, call };
}

/** Reads the elicitation that a reply carries, on its own or inside a problem. */
function readRecorded({ body }: Reply): Seen | undefined {
  const inner = body?.elicitation;
  return readSeen(typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : body);
}

function readSeen(body: Record<string, unknown> | undefined): Seen | undefined {
  if (body === undefined || typeof body.elicitationId !== 'string') return undefined;
  return {
    status: body.status as ElicitationStatus,
    action: body.action as Action | undefined,
    content: body.content,
    serverTime: Date.parse(String(body.serverTime)),
  };
}

function readText({ body }: Reply, name: string): string | undefined {
  const value = body?.[name];
  return typeof value === 'string' ? value : undefined;
}

function readTime(reply: Reply, name: string): number | undefined {
  const text = readText(reply, name);
  return text === undefined ? undefined : Date.parse(text);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

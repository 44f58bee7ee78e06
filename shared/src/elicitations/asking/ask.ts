import { createHash } from 'node:crypto';
import { type AskInput, TIMEOUT_SECONDS_MAX } from '../../domain/elicitations/ask-input.ts';
import type { Definition } from '../../domain/elicitations/row.ts';
import { isTerminal } from '../../domain/elicitations/status.ts';
import { isParleyError, ParleyError } from '../../domain/errors.ts';
import { elicitationOfOwnStream, isMintedStream, mintElicitationId, ownStreamOf } from '../../domain/ids.ts';
import type { Claims } from '../../ports/elicitations/claims.ts';
import type { ArmedDeadline } from '../../ports/elicitations/deadlines.ts';
import type { AskedKey } from '../../ports/elicitations/elicitations.ts';
import type { Seen } from '../caller.ts';
import type { EngineDeps } from '../deps.ts';
import { addJob } from '../expire-due.ts';
import { define, withPageUrl } from './define.ts';
import type { StreamClaims } from './stream-claims.ts';

export interface AskRequest {
  readonly tenant: string;
  readonly input: AskInput;
  /** The service key that asks; absent where Parley itself asks. */
  readonly askedBy?: string | undefined;
  /** The same key with the same input always leads to the same elicitation, for as long as the retention. */
  readonly idempotencyKey?: string;
  /** True: the key alone says which question it is; one that was asked before stands, whatever the input says now. */
  readonly keyDecides?: boolean;
  /** True: the client of the turn cannot show this form and opens its hosted page instead. */
  readonly onAnswerPage?: boolean;
  /** True accepts `pattern` in the form's schema, for adapters of protocols that have it. */
  readonly patterns?: boolean | undefined;
}

export interface AskDeps extends EngineDeps {
  readonly streamClaims: StreamClaims;
}

export interface AskResult extends Seen {
  /** True when an earlier call with the same key had asked it. */
  readonly replayed: boolean;
}

/**
 * Asks: creates an elicitation and arms its deadline. Errors: `invalid_request`, `idempotency_mismatch`,
 * `stream_owner_mismatch`, `rate_limited` (too many open for this user), `user_erased`.
 */
export async function ask(deps: AskDeps, request: AskRequest): Promise<AskResult> {
  const id = mintElicitationId({ tenant: request.tenant, userId: request.input.userId });
  const minted: Minted = { id, streamRequestId: request.input.streamRequestId ?? ownStreamOf(id) };
  const asked = { ...request.input, ...streamOf(minted) };
  const draft = define(deps.settings, request.tenant, asked, { patterns: request.patterns });
  // The stream first: an ask refused for it has not used up its key.
  const isStreamClaimed =
    isChosenStream(request.input.streamRequestId) && (await deps.streamClaims.claim(draft));
  const identity =
    request.idempotencyKey === undefined
      ? minted
      : await claimKey(deps, request, request.idempotencyKey, minted);
  return deps.observer.asking(async (traceparent) => {
    const { id } = identity;
    const definition: Definition = {
      ...withPageUrl(deps.settings, draft, { id, onAnswerPage: request.onAnswerPage === true }),
      ...streamOf(identity),
      conversationId: request.input.conversationId ?? identity.streamRequestId,
      ...(request.askedBy !== undefined && { askedBy: request.askedBy }),
      ...(traceparent !== undefined && { traceparent }),
    };
    const { tasks } = deps.deliveries.notesOn({ id, definition, status: 'pending' });
    const { idempotencyKey } = request;
    const notes = {
      tasks,
      isStreamClaimed,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    };
    const created = await deps.elicitations.create(id, definition, notes).catch(async (error: unknown) => {
      // An erasure may have passed the claims by now.
      if (isParleyError(error, 'user_erased')) await dropClaims(deps, request, id);
      throw error;
    });
    if (created === undefined) throw tooManyOpen(deps);
    const isNew = created.outcome === 'created';
    for (const task of created.noted ?? []) void deps.deliveries.now(task);
    if (isNew && isStreamClaimed) deps.streamClaims.remember(definition);
    // Without a key nobody else knows the id: it exists because the store ran this very call twice.
    const replayed = created.outcome === 'exists' && request.idempotencyKey !== undefined;
    if (!replayed) deps.observer.asked(created.row);
    // On a replay too: the process of the first ask may be gone.
    if (!isTerminal(created.row.status))
      deps.timers?.schedule(id, Math.max(0, created.row.expiresAt - created.now));
    addArmed(deps, created.armed);
    return { row: created.row, now: created.now, replayed };
  });
}

/** Adds the job of a deadline that the commit has armed. Not awaited: the index, written in the commit, is the promise. */
function addArmed(deps: EngineDeps, armed: ArmedDeadline | undefined): void {
  if (armed !== undefined) void addJob(deps, armed);
}

function tooManyOpen({ observer }: EngineDeps): ParleyError {
  observer.tooManyOpen();
  return new ParleyError(
    'rate_limited',
    'This user has too many or too large open questions; settle or withdraw some.',
    { retryAfterSeconds: 10 },
  );
}

interface Minted {
  readonly id: string;
  readonly streamRequestId: string;
}

function streamOf({ streamRequestId }: Minted): { streamRequestId: string } {
  return { streamRequestId };
}

async function claimKey(deps: EngineDeps, request: AskRequest, key: string, minted: Minted): Promise<Minted> {
  const sent = digestOf(request.input);
  const digest = olderDigestOf(request.input);
  const held = await deps.claims.claim(
    { family: 'idempotency', tenant: request.tenant, name: key },
    JSON.stringify({ digest, sent, ...minted }),
    // A run may come back to its question as long as that may stay open.
    deps.settings.retentionMs + (request.keyDecides === true ? TIMEOUT_SECONDS_MAX * 1000 : 0),
  );
  const claim = JSON.parse(held) as Minted & { digest: string; sent?: string };
  const isSame = claim.sent === undefined ? claim.digest === digest : claim.sent === sent;
  if (!isSame && request.keyDecides !== true) {
    throw new ParleyError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another body; use a new key.',
    );
  }
  return { id: claim.id, streamRequestId: claim.streamRequestId };
}

/** True for a stream request that the asker chose. Those of turns are minted, and no other user can know of them. */
function isChosenStream(streamRequestId: string | undefined): boolean {
  if (streamRequestId === undefined) return false;
  if (elicitationOfOwnStream(streamRequestId) !== undefined)
    throw new ParleyError(
      'invalid_request',
      'No other question can be asked on the stream request of a question.',
    );
  return !isMintedStream(streamRequestId);
}

async function dropClaims(
  { claims, streamClaims }: AskDeps,
  { tenant, input: { streamRequestId, userId }, idempotencyKey: key }: AskRequest,
  elicitationId: string,
): Promise<void> {
  await Promise.all([
    streamRequestId !== undefined && streamClaims.drop({ tenant, userId, streamRequestId }),
    key !== undefined && dropKeyClaim(claims, tenant, { key, elicitationId }),
  ]);
}

/**
 * Ends the claim on an idempotency key, unless another elicitation has the key by now: a claim lapses, and the same key may
 * then be used for another user. Throws `unavailable`; repeatable.
 */
export async function dropKeyClaim(
  claims: Claims,
  tenant: string,
  { key, elicitationId }: AskedKey,
): Promise<void> {
  const name = { family: 'idempotency', tenant, name: key } as const;
  const value = await claims.read(name);
  // The value is JSON that contains the id.
  if (value?.includes(JSON.stringify(elicitationId))) await claims.drop(name, value);
}

/** What builds before this one compare: it covers the default that they had. */
function olderDigestOf(input: AskInput): string {
  return digestOf({ ...input, timeoutSeconds: input.timeoutSeconds ?? 600 });
}

/** Covers what the caller sent and no default, so that a retry reaches the same digest on a build with other defaults. */
function digestOf(input: AskInput): string {
  return createHash('sha256').update(JSON.stringify(input, sortedKeys)).digest('base64url');
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

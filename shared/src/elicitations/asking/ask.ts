import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { namedContext } from '@parley/core/domain/elicitations/asker';
import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import {
  elicitationOfOwnStream,
  isMintedStream,
  mintElicitationId,
  ownStreamOf,
} from '@parley/core/domain/ids';
import type { NotifyRules } from '@parley/core/domain/notify';
import type { Seen } from '../../domain/caller.ts';
import type { Definition } from '../../domain/elicitations/row.ts';
import type { ElicitationTypes } from '../../domain/elicitations/types.ts';
import { claimKey, digestOf, dropKeyClaim, type KeyedAsk, type Minted } from '../../records/claim-key.ts';
import { createRecord } from '../../records/create.ts';
import type { EngineDeps } from '../../records/deps.ts';
import type { RecordDeps } from '../../records/family-deps.ts';
import { define, withPageUrl } from './define.ts';
import type { StreamClaims } from './stream-claims.ts';

export interface AskRequest {
  readonly tenant: string;
  readonly input: AskInput;
  /** The service key that asks; absent where Parley itself asks. */
  readonly askedBy?: string | undefined;
  /** The name of that key, where it has one. A question that names no agent gets this name as `context.agent`. */
  readonly askerName?: string | undefined;
  /** The same key with the same input always leads to the same elicitation, for as long as the retention. */
  readonly idempotencyKey?: string;
  /** True: the key alone says which question it is; one that was asked before stands, whatever the input says now. */
  readonly keyDecides?: boolean;
  /** True: the client of the turn cannot show this form and opens its hosted page instead. */
  readonly onAnswerPage?: boolean;
  /** How a channel notifies the person of this question. */
  readonly notify?: NotifyRules | undefined;
  /** True accepts `pattern` in the form's schema, for adapters of protocols that have it. */
  readonly patterns?: boolean | undefined;
}

interface AskDeps extends EngineDeps {
  readonly questions: RecordDeps<ElicitationTypes>;
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
  const identity: Minted & { readonly key?: string } =
    request.idempotencyKey === undefined
      ? minted
      : await claimKey(deps, keyedAskOf(request, request.idempotencyKey), minted);
  return deps.observer.asking(async (traceparent) => {
    const { id } = identity;
    const definition: Definition = {
      ...withPageUrl(deps.settings, draft, { id, onAnswerPage: request.onAnswerPage === true }),
      ...streamOf(identity),
      conversationId: request.input.conversationId ?? identity.streamRequestId,
      context: namedContext(draft.context, request.askerName),
      ...(request.askedBy !== undefined && { askedBy: request.askedBy }),
      ...(request.notify !== undefined && { notify: request.notify }),
      ...(traceparent !== undefined && { traceparent }),
    };
    const { key: idempotencyKey } = identity;
    const notes = { isStreamClaimed, ...(idempotencyKey !== undefined && { idempotencyKey }) };
    const created = await createRecord(deps, deps.questions, { id, definition, notes }).catch(
      async (error: unknown) => {
        // An erasure may have passed the claims by now.
        if (isParleyError(error, 'user_erased')) await dropClaims(deps, request, identity);
        throw error;
      },
    );
    if (created.outcome === 'created' && isStreamClaimed) deps.streamClaims.remember(definition);
    const replayed = created.outcome === 'exists' && idempotencyKey !== undefined;
    return { row: created.row, now: created.now, replayed };
  });
}

function streamOf({ streamRequestId }: Minted): { streamRequestId: string } {
  return { streamRequestId };
}

function keyedAskOf({ tenant, input, askedBy, keyDecides = false }: AskRequest, key: string): KeyedAsk {
  return { tenant, key, by: askedBy, sent: digestOf(input), digest: olderDigestOf(input), keyDecides };
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
  { tenant, input: { streamRequestId, userId } }: AskRequest,
  { id: elicitationId, key }: { readonly id: string; readonly key?: string },
): Promise<void> {
  await Promise.all([
    streamRequestId !== undefined && streamClaims.drop({ tenant, userId, streamRequestId }),
    key !== undefined && dropKeyClaim(claims, tenant, { key, elicitationId }),
  ]);
}

/** What builds before this one compare: it covers the default that they had. */
function olderDigestOf(input: AskInput): string {
  return digestOf({ ...input, timeoutSeconds: input.timeoutSeconds ?? 600 });
}

/**
 * Asking: from the request to the stored question, with its claims on the idempotency key and the stream request. The checks of
 * the question itself are in `define.ts`, and waiting is in `records/wait.ts`.
 */

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
  /** The service key that asks; absent when Parley itself asks. */
  readonly askedBy?: string | undefined;
  /** The configured name of that key, if it has one. It becomes `context.agent` of a question that names no agent. */
  readonly askerName?: string | undefined;
  /** Within the retention, the same key with the same input always leads to the same elicitation. */
  readonly idempotencyKey?: string;
  /** True: the key alone identifies the question, and an existing one is returned even if the input differs. */
  readonly keyDecides?: boolean;
  /** True: the turn's client cannot show this form and opens the hosted page instead. */
  readonly onAnswerPage?: boolean;
  /** How a channel notifies the person of this question. */
  readonly notify?: NotifyRules | undefined;
  /** True accepts `pattern` in the form's schema, for adapters of protocols that allow it. */
  readonly patterns?: boolean | undefined;
}

interface AskDeps extends EngineDeps {
  readonly questions: RecordDeps<ElicitationTypes>;
  readonly streamClaims: StreamClaims;
}

export interface AskResult extends Seen {
  /** True when an earlier call with the same key asked the question. */
  readonly replayed: boolean;
}

/**
 * Creates an elicitation and arms its deadline. Throws `invalid_request`, `idempotency_mismatch`, `stream_owner_mismatch`,
 * `rate_limited` (this user has too many open records) or `user_erased`.
 */
export async function ask(deps: AskDeps, request: AskRequest): Promise<AskResult> {
  const id = mintElicitationId({ tenant: request.tenant, userId: request.input.userId });
  const minted: Minted = { id, streamRequestId: request.input.streamRequestId ?? ownStreamOf(id) };
  const asked = { ...request.input, ...streamOf(minted) };
  const draft = define(deps.settings, request.tenant, asked, { patterns: request.patterns });
  // The stream is claimed before the key: an ask that is refused because of its stream has not used up its key.
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
        // The erasure may already have removed the listed claims, so this one would be missed.
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

/** True for a stream request whose id the asker chose. Turns have minted ids, which no other user can know. */
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

/** The digest that older builds compare. It includes their default timeout of 600 s. */
function olderDigestOf(input: AskInput): string {
  return digestOf({ ...input, timeoutSeconds: input.timeoutSeconds ?? 600 });
}

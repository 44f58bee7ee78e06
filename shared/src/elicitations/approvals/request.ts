import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { ParleyError } from '@parley/core/domain/errors';
import { mintRecordId } from '@parley/core/domain/ids';
import { ARGUMENTS_BYTES_MAX } from '../../domain/approvals/extent.ts';
import type { ApprovalTypes } from '../../domain/approvals/types.ts';
import { jsonBytes } from '../../domain/json/bytes.ts';
import { claimKey, digestOf, idOfKey } from '../../records/claim-key.ts';
import { createRecord } from '../../records/create.ts';
import type { EngineDeps } from '../../records/deps.ts';
import type { RecordDeps } from '../../records/family-deps.ts';
import type { SeenRecord } from '../../records/read.ts';

export interface ApprovalRequest {
  readonly definition: Omit<ApprovalDefinition, 'traceparent'>;
  /** The same key always leads to the same approval, even with another definition. */
  readonly idempotencyKey: string;
}

/**
 * Requests a person's approval of a call. Throws `too_large` (nobody could read the arguments), `rate_limited` (this user has
 * too many open records) or `user_erased`.
 */
export async function requestApproval(
  engine: EngineDeps,
  deps: RecordDeps<ApprovalTypes>,
  { definition, idempotencyKey }: ApprovalRequest,
): Promise<SeenRecord<ApprovalTypes>> {
  const { tenant, streamRequestId } = definition;
  if (jsonBytes(definition.arguments) > ARGUMENTS_BYTES_MAX)
    throw new ParleyError(
      'too_large',
      `A call can be approved when its arguments are at most ${ARGUMENTS_BYTES_MAX} bytes.`,
    );
  const digest = digestOf(definition);
  const keyed = { tenant, key: idempotencyKey, sent: digest, digest, keyDecides: true };
  const { id } = await claimKey(engine, keyed, { id: mintRecordId('ap', definition), streamRequestId });
  return deps.observer.asking(async (traceparent) => {
    const asked = { ...definition, ...(traceparent !== undefined && { traceparent }) };
    const { row, now } = await createRecord(engine, deps, {
      id,
      definition: asked,
      notes: { idempotencyKey },
    });
    return { row, now };
  });
}

/** Finds the approval that was requested under a key; undefined when there is none. Throws `unavailable`. */
export async function findRequested(
  { claims }: Pick<EngineDeps, 'claims'>,
  { records }: Pick<RecordDeps<ApprovalTypes>, 'records'>,
  { tenant, idempotencyKey }: { readonly tenant: string; readonly idempotencyKey: string },
): Promise<SeenRecord<ApprovalTypes> | undefined> {
  const id = await idOfKey(claims, tenant, idempotencyKey);
  if (id === undefined) return undefined;
  const { row, now } = await records.read(id);
  return row === undefined ? undefined : { row, now };
}

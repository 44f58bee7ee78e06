import type { Owner } from '@parley/core/domain/ids';
import { SECRET_TOOL_ID } from '../../domain/credential.ts';
import type { Row } from '../../domain/elicitations/row.ts';
import { webhookIdOf } from '../../domain/webhooks/webhook.ts';
import type { Backend } from '../../ports/backend.ts';
import type { Deliveries } from '../../ports/delivery/kind.ts';
import type { ClaimName } from '../../ports/elicitations/claims.ts';
import type { StoredPart } from '../../ports/erasure.ts';
import { dropKeyClaim } from '../../records/claim-key.ts';

export interface RemovePartDeps {
  readonly backend: Pick<Backend, 'records' | 'outbox' | 'deadLetters' | 'claims' | 'limits' | 'erasure'>;
  readonly deliveries: Pick<Deliveries, 'notesOn'>;
  /** The rate limits that count a user's calls for one elicitation. */
  readonly elicitationLimits: (elicitationId: string) => readonly string[];
}

/** Removes a part of a person's data from all indexes and slots. Repeatable. Throws `unavailable`. */
export async function removePart(deps: RemovePartDeps, owner: Owner, part: StoredPart): Promise<void> {
  const { records, erasure } = deps.backend;
  const { records: found } = await records.readMany(part.elicitationIds);
  const known = found.flatMap((record) => (record?.family === 'elicitation' ? [record.row] : []));
  const whole = { ...part, streamRequestIds: streamsOf(part, known) };
  await removeElsewhere(deps, owner, whole, known);
  await erasure.remove(owner, whole);
}

/** The stream requests of a part: indexed ones, and those that only rows name. */
function streamsOf(part: StoredPart, rows: readonly Row[]): string[] {
  return [...new Set([...part.streamRequestIds, ...rows.map((row) => row.definition.streamRequestId)])];
}

/**
 * Removes what a part has stored outside the slot of its person. This must come first, because the indexes in that slot are the
 * only way to find it.
 */
async function removeElsewhere(
  deps: RemovePartDeps,
  owner: Owner,
  part: StoredPart,
  known: readonly Row[],
): Promise<void> {
  const { claims } = deps.backend;
  const { tenant } = owner;
  const streams = [...part.streamRequestIds, ...part.turnIds];
  await Promise.all([
    ...part.elicitationIds.map((id) => removeOfElicitation(deps, owner, id)),
    ...known.map((row) => removeOfRow(deps, row)),
    ...streams.map((name) => claims.drop({ family: 'stream', tenant, name }, owner.userId)),
    ...part.idempotencyKeys.map((asked) => dropKeyClaim(claims, tenant, asked)),
  ]);
}

async function removeOfElicitation(
  { backend: { deadLetters, limits }, elicitationLimits }: RemovePartDeps,
  owner: Owner,
  id: string,
): Promise<void> {
  await Promise.all([
    deadLetters.remove(owner.tenant, webhookIdOf(id)),
    ...elicitationLimits(id).map((limit) => limits.reset(limit, owner)),
  ]);
}

async function removeOfRow({ backend, deliveries }: RemovePartDeps, row: Row): Promise<void> {
  const { id, definition, status } = row;
  const { tenant, context } = definition;
  const { tasks } = deliveries.notesOn({ id, definition, status });
  await Promise.all([
    ...tasks.map((task) => backend.outbox.remove(task, tenant)),
    context.toolId === SECRET_TOOL_ID && dropSecretClaim(backend, { family: 'secret', tenant, name: id }),
  ]);
}

async function dropSecretClaim({ claims }: RemovePartDeps['backend'], name: ClaimName): Promise<void> {
  const taker = await claims.read(name);
  if (taker !== undefined) await claims.drop(name, taker);
}

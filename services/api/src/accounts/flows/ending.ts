import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import type { Status } from '@parley/core/domain/elicitations/status';
import { isParleyError } from '@parley/core/domain/errors';
import { type Credential, type CredentialRef, SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { USER_ERASED } from '@parley/shared/domain/erasure';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import type { FlowRef } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import type { AccountEvent } from '../events.ts';
import type { AccountTargets } from '../targets.ts';
import { CONNECT_SURFACE, completeOpen } from './complete-open.ts';
import { readHeld } from './held.ts';

export interface EndingDeps {
  readonly engine: Pick<Engine, 'complete' | 'openRecords'>;
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly vault: Pick<Vault, 'read' | 'stage' | 'staged' | 'promote' | 'drop'>;
  readonly targets: Pick<AccountTargets, 'connector'>;
  /** Origin of the connect pages. */
  readonly publicUrl: string;
  readonly onEvent: (event: AccountEvent) => void;
}

/** How a flow ended. */
export type Ending =
  /** The question is answered, and the credential usable. */
  | { readonly type: 'connected' }
  /** The question had expired or was withdrawn; the credential serves the next one. */
  | { readonly type: 'kept'; readonly status: Status }
  /**
   * The question was declined, answered elsewhere, or does not exist any more, or its user was erased. The credential was
   * deleted here and revoked at the provider.
   */
  | { readonly type: 'dropped'; readonly status: Status | undefined };

/** How long a staged credential is kept, in ms. A sweep finishes an interrupted flow long before that. */
export const STAGED_MS = 24 * 60 * 60_000;
/** How long a tool may use the secret that a person typed for it, in ms. */
export const SECRET_MS = 60 * 60_000;

/**
 * Makes a new credential usable in three steps: stages it, completes the question, promotes it. Then completes all other
 * open questions for the account. After an interruption, `conclude` repeats what comes after the staging, called by a
 * sweep or by a waiter of the question. A question that has brought a credential before keeps that one, and the new one
 * is discarded.
 */
export async function endFlow(
  deps: EndingDeps,
  flow: FlowRef,
  elicitationId: string,
  credential: Credential,
): Promise<Ending> {
  // Read only now, because another tab may have ended the question while the provider was called.
  const { row } = await deps.elicitations.read(elicitationId);
  const earlier = row === undefined ? undefined : await earlierEnding(deps, flow, row);
  if (earlier !== undefined) {
    // Many providers revoke all of a person's connections at once, so a held credential would stop working too.
    if ((await readHeld(deps, flow)) === undefined)
      await deps.targets.connector(flow.connectorId)?.revoke(credential);
    return earlier;
  }
  await deps.vault.stage(flow, credential, flow.toolId === SECRET_TOOL_ID ? SECRET_MS : STAGED_MS);
  return conclude(deps, flow, elicitationId);
}

/** How the question ended before this flow; undefined when the flow may still end it. */
export async function earlierEnding(deps: EndingDeps, flow: FlowRef, row: Row): Promise<Ending | undefined> {
  const { id, status } = row;
  if (status !== 'accepted' && status !== 'expired' && status !== 'withdrawn') return undefined;
  // Staged by a pod that has died since or still works on it.
  if ((await deps.vault.staged(flow)) !== undefined) return conclude(deps, flow, id);
  if (status === 'accepted') {
    if (!(await hasBrought(deps, flow, row))) return { type: 'dropped', status };
    await completeOpen(deps, flow);
    return { type: 'connected' };
  }
  const isKept = flow.toolId !== SECRET_TOOL_ID && (await deps.vault.promote(flow)) !== undefined;
  return isKept ? { type: 'kept', status } : undefined;
}

/** True when a credential is usable after an accepted question. A service can complete the question without one. */
export async function hasBrought(
  deps: Pick<EndingDeps, 'vault'>,
  ref: CredentialRef,
  { settlement }: Row,
): Promise<boolean> {
  return settlement?.surface === CONNECT_SURFACE || (await readHeld(deps, ref))?.state === 'usable';
}

/** Ends a flow whose credential is staged. Throws `unavailable` while a store cannot be reached; the call can be repeated. */
export async function conclude(deps: EndingDeps, flow: FlowRef, elicitationId: string): Promise<Ending> {
  const { tenant, userId, toolId, connectorId } = flow;
  const { status, reason } = (await complete(deps, tenant, elicitationId)) ?? {};
  // The erasure may have passed the credentials of the person by now.
  if (reason === USER_ERASED) return drop(deps, flow, elicitationId, status);
  // A secret stays staged until its tool takes it. No tool takes it after the question ended without an answer.
  if (toolId === SECRET_TOOL_ID && status === 'accepted') return { type: 'connected' };
  if (toolId === SECRET_TOOL_ID) return drop(deps, flow, elicitationId, status);
  if (status === 'accepted' || status === 'expired' || status === 'withdrawn') {
    const kept = status !== 'accepted';
    const version = await deps.vault.promote(flow);
    if (version !== undefined)
      deps.onEvent({ type: 'completed', elicitationId, kept, tenant, userId, toolId, connectorId });
    await completeOpen(deps, flow);
    return kept ? { type: 'kept', status } : { type: 'connected' };
  }
  return drop(deps, flow, elicitationId, status);
}

async function drop(
  deps: EndingDeps,
  flow: FlowRef,
  elicitationId: string,
  status: Status | undefined,
): Promise<Ending> {
  await dropFlow(deps, flow);
  deps.onEvent({ type: 'failed', code: 'dropped', elicitationId, connectorId: flow.connectorId });
  return { type: 'dropped', status };
}

/** Revokes a staged credential at the provider, where that is supported, and deletes it. Can be repeated. */
export async function dropFlow(
  {
    vault,
    targets,
  }: {
    readonly vault: Pick<Vault, 'staged' | 'drop'>;
    readonly targets: EndingDeps['targets'];
  },
  flow: FlowRef,
): Promise<void> {
  // Deleted last, so that a repeat after an interruption can still revoke it.
  const staged = await vault.staged(flow);
  if (staged !== undefined) await targets.connector(flow.connectorId)?.revoke(staged.reveal());
  await vault.drop(flow);
}

/** Completes the question. Returns how it ended; undefined when it does not exist. */
async function complete(
  { engine }: EndingDeps,
  tenant: string,
  id: string,
): Promise<Pick<Elicitation, 'status' | 'reason'> | undefined> {
  try {
    const { row } = await engine.complete({
      caller: { kind: 'service', tenant },
      id,
      surface: CONNECT_SURFACE,
    });
    return { status: row.status };
  } catch (error) {
    if (isParleyError(error, 'not_found')) return undefined;
    if (isParleyError(error, 'expired')) return { status: 'expired' };
    if (!isParleyError(error, 'already_settled') || error.elicitation === undefined) throw error;
    return error.elicitation;
  }
}

/**
 * Ends a flow that brought a credential, in steps that any pod can repeat. How the credential was obtained is in the
 * connectors, the pages are in `pages/connect`.
 */

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
  /** The question had expired or was withdrawn. The credential is kept for the next question. */
  | { readonly type: 'kept'; readonly status: Status }
  /**
   * The question was declined, was answered elsewhere or does not exist, or its user was erased. The credential was deleted and
   * revoked at the provider.
   */
  | { readonly type: 'dropped'; readonly status: Status | undefined };

/** How long a staged credential is kept, in ms. A sweep finishes an interrupted flow long before that. */
export const STAGED_MS = 24 * 60 * 60_000;
/** How long a tool may use the secret that a person typed for it, in ms. */
export const SECRET_MS = 60 * 60_000;

/**
 * Makes a new credential usable in three steps: stages it, completes the question, promotes the credential. Then completes all
 * other open questions for the account.
 *
 * After an interruption, a sweep or a waiter of the question calls `conclude`, which repeats the steps after the staging. If
 * the question has already brought a credential, that one is kept and the new one is discarded.
 */
export async function endFlow(
  deps: EndingDeps,
  flow: FlowRef,
  elicitationId: string,
  credential: Credential,
): Promise<Ending> {
  // The row is read only now, because another tab may have ended the question during the call to the provider.
  const { row } = await deps.elicitations.read(elicitationId);
  const earlier = row === undefined ? undefined : await earlierEnding(deps, flow, row);
  if (earlier !== undefined) {
    // Many providers revoke all of a person's connections at once, which would also end a credential that is already in use.
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
  // A pod that has died, or is still working on the flow, staged the credential.
  if ((await deps.vault.staged(flow)) !== undefined) return conclude(deps, flow, id);
  if (status === 'accepted') {
    if (!(await hasBrought(deps, flow, row))) return { type: 'dropped', status };
    await completeOpen(deps, flow);
    return { type: 'connected' };
  }
  const isKept = flow.toolId !== SECRET_TOOL_ID && (await deps.vault.promote(flow)) !== undefined;
  return isKept ? { type: 'kept', status } : undefined;
}

/** True if the accepted question left a usable credential. A service can complete a question without one. */
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
  // The erasure may already have deleted the person's credentials.
  if (reason === USER_ERASED) return drop(deps, flow, elicitationId, status);
  // A secret stays staged until its tool takes it. If the question ended without an answer, no tool will take it.
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
  // The staged credential is deleted last, so that a repeat after an interruption can still revoke it.
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

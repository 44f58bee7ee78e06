import { type Credential, type CredentialRef, SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Status } from '@parley/shared/domain/elicitations/status';
import { isParleyError } from '@parley/shared/domain/errors';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import type { FlowRef } from '@parley/shared/ports/vault';
import { SealError } from '@parley/shared/vault/seal';
import type { OpenedCredential, Vault } from '@parley/shared/vault/vault';
import type { ConnectEvent } from '../events.ts';
import type { ConnectTargets } from '../targets.ts';

export interface EndingDeps {
  readonly engine: Pick<Engine, 'complete'>;
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly vault: Pick<Vault, 'read' | 'stage' | 'staged' | 'promote' | 'drop'>;
  readonly targets: Pick<ConnectTargets, 'connector'>;
  readonly onEvent: (event: ConnectEvent) => void;
}

/** How a flow came to its end. */
export type Ending =
  /** The question is answered, and the credential usable. */
  | { readonly type: 'connected' }
  /** The question had ended by itself; the credential serves the next one. */
  | { readonly type: 'kept'; readonly status: Status }
  /**
   * The question was refused, answered by somebody else than the pages, or is not there any more: the credential is gone,
   * here and at the provider.
   */
  | { readonly type: 'dropped'; readonly status: Status | undefined };

/** For how long what a flow got is kept unusable, in ms. A sweep finishes what is left staged long before that. */
export const STAGED_MS = 24 * 60 * 60_000;
// How the pages' own answers are marked.
const SURFACE = 'connect';
/** For how long a tool may use the secret that somebody typed for it, in ms. */
export const SECRET_MS = 60 * 60_000;

/**
 * The one way from a credential to a usable one: kept unusable, then the question is completed, then made usable. What
 * stops in between is taken up by `conclude` again, from a sweep or by whoever waits for the answer. What the question
 * brought before stays, and the credential is forgotten.
 */
export async function endFlow(
  deps: EndingDeps,
  flow: FlowRef,
  elicitationId: string,
  credential: Credential,
): Promise<Ending> {
  // Read now: a provider takes its time, and another tab may have been faster.
  const { row } = await deps.elicitations.read(elicitationId);
  const earlier = row === undefined ? undefined : await earlierEnding(deps, flow, row);
  if (earlier !== undefined) {
    // With many providers, revoking it would end what the person did connect as well.
    if ((await readHeld(deps, flow)) === undefined)
      await deps.targets.connector(flow.connectorId)?.revoke(credential);
    return earlier;
  }
  await deps.vault.stage(flow, credential, flow.toolId === SECRET_TOOL_ID ? SECRET_MS : STAGED_MS);
  return conclude(deps, flow, elicitationId);
}

/** What a question came to before `flow` brings anything more; nothing where something may still come of it. */
export async function earlierEnding(deps: EndingDeps, flow: FlowRef, row: Row): Promise<Ending | undefined> {
  const { id, status } = row;
  if (status !== 'accepted' && status !== 'expired' && status !== 'withdrawn') return undefined;
  // Of a pod that died in between, or that is at it.
  if ((await deps.vault.staged(flow)) !== undefined) return conclude(deps, flow, id);
  if (status === 'accepted')
    return (await hasBrought(deps, flow, row)) ? { type: 'connected' } : { type: 'dropped', status };
  const isKept = flow.toolId !== SECRET_TOOL_ID && (await deps.vault.promote(flow)) !== undefined;
  return isKept ? { type: 'kept', status } : undefined;
}

/** True when an accepted question brought a credential, or left one as it was: a service can end it without any. */
export async function hasBrought(
  deps: Pick<EndingDeps, 'vault'>,
  ref: CredentialRef,
  { settlement }: Row,
): Promise<boolean> {
  return settlement?.surface === SURFACE || (await readHeld(deps, ref))?.state === 'usable';
}

/** What is held under a name. One that does not open any more is in nobody's way. */
export async function readHeld(
  { vault }: Pick<EndingDeps, 'vault'>,
  ref: CredentialRef,
): Promise<OpenedCredential | undefined> {
  try {
    return await vault.read(ref);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/** Ends a flow whose credential is staged. Throws `unavailable` while a store is away; it can be repeated then. */
export async function conclude(deps: EndingDeps, flow: FlowRef, elicitationId: string): Promise<Ending> {
  const { tenant, userId, toolId, connectorId } = flow;
  const status = await complete(deps, tenant, elicitationId);
  // A secret stays as it is until its tool takes it; with the question over by itself, nobody ever will.
  if (toolId === SECRET_TOOL_ID && status === 'accepted') return { type: 'connected' };
  if (toolId === SECRET_TOOL_ID) return drop(deps, flow, elicitationId, status);
  if (status === 'accepted' || status === 'expired' || status === 'withdrawn') {
    const kept = status !== 'accepted';
    const version = await deps.vault.promote(flow);
    if (version !== undefined)
      deps.onEvent({ type: 'completed', elicitationId, kept, tenant, userId, toolId, connectorId });
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

/** Tells the provider that what a flow got is not wanted, as far as it listens, and forgets it. Can be repeated. */
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
  // Forgotten last: with the first reply lost, nobody else knows what is to be revoked.
  const staged = await vault.staged(flow);
  if (staged !== undefined) await targets.connector(flow.connectorId)?.revoke(staged.reveal());
  await vault.drop(flow);
}

/** How the question stands after it was told that it is finished; nothing when there is none. */
async function complete({ engine }: EndingDeps, tenant: string, id: string): Promise<Status | undefined> {
  try {
    const { row } = await engine.complete({ caller: { kind: 'service', tenant }, id, surface: SURFACE });
    return row.status;
  } catch (error) {
    if (isParleyError(error, 'not_found')) return undefined;
    if (isParleyError(error, 'expired')) return 'expired';
    if (!isParleyError(error, 'already_settled') || error.elicitation === undefined) throw error;
    return error.elicitation.status;
  }
}

import { type Credential, SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import { isParleyError } from '@parley/shared/domain/errors';
import type { Status } from '@parley/shared/domain/status';
import type { Engine } from '@parley/shared/engine/engine';
import type { FlowRef } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import type { ConnectEvent } from '../events.ts';
import type { ConnectTargets } from '../targets.ts';

export interface EndingDeps {
  readonly engine: Pick<Engine, 'complete'>;
  readonly vault: Pick<Vault, 'stage' | 'promote' | 'drop'>;
  readonly targets: Pick<ConnectTargets, 'connector'>;
  readonly onEvent: (event: ConnectEvent) => void;
}

/** How a flow came to its end. */
export type Ending =
  /** The question is answered, and the credential usable. */
  | { readonly type: 'connected' }
  /** The question had ended by itself; the credential serves the next one. */
  | { readonly type: 'kept'; readonly status: Status }
  /** The question was refused, or is not there any more: the credential is gone, here and at the provider. */
  | { readonly type: 'dropped'; readonly status: Status | undefined };

// A sweep finishes what is left staged long before that.
const STAGED_MS = 24 * 60 * 60_000;
/** For how long a tool may use the secret that somebody typed for it, in ms. */
export const SECRET_MS = 60 * 60_000;

/**
 * The one way from a credential to a usable one: kept unusable, then the question is completed, then made usable. What
 * stops in between is taken up by `conclude` again, from a sweep or by whoever waits for the answer.
 */
export async function endFlow(
  deps: EndingDeps,
  flow: FlowRef,
  elicitationId: string,
  credential: Credential,
): Promise<Ending> {
  await deps.vault.stage(flow, credential, flow.toolId === SECRET_TOOL_ID ? SECRET_MS : STAGED_MS);
  return conclude(deps, flow, elicitationId);
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

/** Forgets what a flow got, and tells the provider, as far as it listens. */
export async function dropFlow(
  { vault, targets }: Pick<EndingDeps, 'vault' | 'targets'>,
  flow: FlowRef,
): Promise<void> {
  const dropped = await vault.drop(flow);
  if (dropped !== undefined) await targets.connector(flow.connectorId)?.revoke(dropped.reveal());
}

/** How the question stands after it was told that it is finished; nothing when there is none. */
async function complete({ engine }: EndingDeps, tenant: string, id: string): Promise<Status | undefined> {
  try {
    const { row } = await engine.complete({ caller: { kind: 'service', tenant }, id, surface: 'connect' });
    return row.status;
  } catch (error) {
    if (isParleyError(error, 'not_found')) return undefined;
    if (isParleyError(error, 'expired')) return 'expired';
    if (!isParleyError(error, 'already_settled') || error.elicitation === undefined) throw error;
    return error.elicitation.status;
  }
}

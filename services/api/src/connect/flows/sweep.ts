import { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { Elicitations } from '@parley/shared/ports/elicitations';
import type { StagedFlow } from '@parley/shared/ports/vault';
import { SealError } from '@parley/shared/vault/seal';
import type { HeldCredential, Vault } from '@parley/shared/vault/vault';
import { conclude, dropFlow, type EndingDeps, SECRET_MS } from './ending.ts';
import { elicitationOfFlow, isUnknownFlow } from './flow-id.ts';

export interface SweepDeps extends EndingDeps {
  readonly vault: EndingDeps['vault'] & Pick<Vault, 'staleFlows' | 'read'>;
  readonly elicitations: Pick<Elicitations, 'read'>;
  /** Told of a flow that could not be ended; the next sweep tries again. */
  readonly onFault: (error: unknown) => void;
}

/** How long the deployer's backend may take to say whose a connection is, in ms. */
export const BINDING_MS = 15 * 60_000;

/**
 * Ends flows that stopped half-way at least `olderThanMs` ago, each as its question stands: what a pod that died left
 * behind, and after `bindingMs` what nobody ever said whose it was. Returns how many; safe beside other sweeps and the
 * flows themselves.
 */
export async function sweepFlows(
  deps: SweepDeps,
  olderThanMs: number,
  bindingMs: number = BINDING_MS,
): Promise<number> {
  let ended = 0;
  const each = async (flow: StagedFlow, end: (flow: StagedFlow) => Promise<void>) => {
    try {
      await end(flow);
      ended += 1;
    } catch (error) {
      deps.onFault(error);
    }
  };
  for await (const flow of deps.vault.staleFlows(olderThanMs)) {
    if (!isUnknownFlow(flow.flowId)) await each(flow, (one) => endStale(deps, one));
  }
  for await (const flow of deps.vault.staleFlows(Math.max(olderThanMs, bindingMs))) {
    if (isUnknownFlow(flow.flowId)) await each(flow, (one) => dropUnclaimed(deps, one));
  }
  // Secrets that no tool took have lapsed by then.
  for await (const flow of deps.vault.staleFlows(SECRET_MS)) {
    if (flow.toolId === SECRET_TOOL_ID) await each(flow, (one) => dropFlow(deps, one));
  }
  return ended;
}

async function dropUnclaimed(deps: SweepDeps, flow: StagedFlow): Promise<void> {
  // With many providers, revoking it would end what the person did connect as well.
  if ((await heldOf(deps, flow)) === undefined) await dropFlow(deps, flow);
  else await deps.vault.drop(flow);
}

async function endStale(deps: SweepDeps, flow: StagedFlow): Promise<void> {
  const elicitationId = elicitationOfFlow(flow.flowId);
  if (elicitationId === undefined) return dropFlow(deps, flow);
  // What the person connected later counts. Not revoked: with many providers that would end the newer one as well.
  const held = await heldOf(deps, flow);
  if (held !== undefined && held.savedAt >= flow.stagedAt) {
    await deps.vault.drop(flow);
    return;
  }
  await conclude(deps, flow, elicitationId);
}

/** One that does not open any more is in nobody's way. */
async function heldOf({ vault }: SweepDeps, flow: StagedFlow): Promise<HeldCredential | undefined> {
  try {
    return await vault.read(flow);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

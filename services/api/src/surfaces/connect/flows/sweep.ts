import { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { StagedFlow } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import { conclude, dropFlow, type EndingDeps, readHeld, SECRET_MS } from './ending.ts';
import { elicitationOfFlow, isUnknownFlow } from './flow-id.ts';

export interface SweepDeps extends EndingDeps {
  readonly vault: EndingDeps['vault'] & Pick<Vault, 'staleFlows'>;
  /** Told of a flow that could not be ended; the next sweep tries again. */
  readonly onFault: (error: unknown) => void;
}

/** How long the deployer's backend may take to say whose a connection is, in ms. */
export const BINDING_MS = 15 * 60_000;

/**
 * Ends flows that stopped half-way at least `olderThanMs` ago, each as its question stands: what a pod that died left
 * behind, and `bindingMs` later what nobody ever said whose it was. Returns how many; safe beside other sweeps and the
 * flows themselves. Stops between two flows when the signal does.
 */
export async function sweepFlows(
  deps: SweepDeps,
  olderThanMs: number,
  bindingMs: number = BINDING_MS,
  signal?: AbortSignal,
): Promise<number> {
  const isStopped = () => signal?.aborted === true;
  let ended = 0;
  const each = async (
    ageMs: number,
    isMeant: (flow: StagedFlow) => boolean,
    end: (deps: SweepDeps, flow: StagedFlow) => Promise<void>,
  ) => {
    if (isStopped()) return;
    for await (const flow of deps.vault.staleFlows(ageMs)) {
      if (isStopped()) return;
      if (!isMeant(flow)) continue;
      try {
        await end(deps, flow);
        ended += 1;
      } catch (error) {
        deps.onFault(error);
      }
    }
  };
  await each(olderThanMs, ({ flowId }) => !isUnknownFlow(flowId), endStale);
  // Not at the very moment at which somebody may still speak for it.
  await each(olderThanMs + bindingMs, ({ flowId }) => isUnknownFlow(flowId), dropUnclaimed);
  // Secrets that no tool took have lapsed by then.
  await each(SECRET_MS, ({ toolId }) => toolId === SECRET_TOOL_ID, dropFlow);
  return ended;
}

async function dropUnclaimed(deps: SweepDeps, flow: StagedFlow): Promise<void> {
  // With many providers, revoking it would end what the person did connect as well.
  if ((await readHeld(deps, flow)) === undefined) await dropFlow(deps, flow);
  else await deps.vault.drop(flow);
}

async function endStale(deps: SweepDeps, flow: StagedFlow): Promise<void> {
  const elicitationId = elicitationOfFlow(flow.flowId);
  if (elicitationId === undefined) return dropFlow(deps, flow);
  // Somebody may sleep until an open question ends, and what is held may be newer by a mere refresh. Only behind an
  // answered one does what was written later count; not revoked, for with many providers that would end both.
  const { row } = await deps.elicitations.read(elicitationId);
  const held = row?.status === 'accepted' ? await readHeld(deps, flow) : undefined;
  if (held !== undefined && held.savedAt > flow.stagedAt) await deps.vault.drop(flow);
  else await conclude(deps, flow, elicitationId);
}

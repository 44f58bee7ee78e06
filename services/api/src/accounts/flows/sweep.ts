import { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { StagedFlow } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import { elicitationOfFlow, isUnknownFlow } from '../flow-id.ts';
import { conclude, dropFlow, type EndingDeps, SECRET_MS } from './ending.ts';
import { readHeld } from './held.ts';

interface SweepDeps extends EndingDeps {
  readonly vault: EndingDeps['vault'] & Pick<Vault, 'staleFlows'>;
  /** Called when a flow could not be ended; the next sweep tries again. */
  readonly onFault: (error: unknown) => void;
}

/** How long the deployer's backend may take to report the person who owns a connection, in ms. */
export const BINDING_MS = 15 * 60_000;

/**
 * Ends flows that were interrupted at least `olderThanMs` ago, for example because a pod died. The state of each question
 * decides how its flow ends. Flows of unknown persons end `bindingMs` later. Returns the number of ended flows. Other sweeps
 * and the flows themselves may run at the same time. An aborted signal stops the sweep between two flows.
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
  // The deployer's backend may still report the person until `bindingMs` has passed.
  await each(olderThanMs + bindingMs, ({ flowId }) => isUnknownFlow(flowId), dropUnclaimed);
  // Secrets that no tool has taken are expired by then.
  await each(SECRET_MS, ({ toolId }) => toolId === SECRET_TOOL_ID, dropFlow);
  return ended;
}

async function dropUnclaimed(deps: SweepDeps, flow: StagedFlow): Promise<void> {
  // Many providers revoke all of a person's connections at once, which would also end a credential that is already in use.
  if ((await readHeld(deps, flow)) === undefined) await dropFlow(deps, flow);
  else await deps.vault.drop(flow);
}

async function endStale(deps: SweepDeps, flow: StagedFlow): Promise<void> {
  const elicitationId = elicitationOfFlow(flow.flowId);
  if (elicitationId === undefined) return dropFlow(deps, flow);
  // The stored credential may be newer only because it was refreshed, while an open question still needs the staged one. So the
  // stored one is preferred only if the question was accepted. The staged one is not revoked, because that could revoke both.
  const { row } = await deps.elicitations.read(elicitationId);
  const held = row?.status === 'accepted' ? await readHeld(deps, flow) : undefined;
  if (held !== undefined && held.savedAt > flow.stagedAt) await deps.vault.drop(flow);
  else await conclude(deps, flow, elicitationId);
}

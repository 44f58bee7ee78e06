/**
 * Stores redirects to providers that are under way, with their sealed state. What happens after the return is decided by the
 * pages and in `ending.ts`.
 */

import { parsed } from '@parley/core/domain/parsed';
import type { PageEntryName, PageStore } from '@parley/shared/ports/page-store';
import { sha256 } from '@parley/shared/records/digest';
import type { KeyRing } from '@parley/shared/vault/key-ring';
import { SealError, type SealIdentity, seal, unseal } from '@parley/shared/vault/seal';
import { z } from 'zod';
import type { CallbackState } from '../connector.ts';

const FLOW_MS = 60 * 60_000;
const SIGN_IN_MS = 15 * 60_000;

const Flow = z.object({
  /** Fingerprint of the browser that began the flow. */
  browser: z.string(),
  /** The question; empty for a sign-in that leads to the accounts or to the inbox. */
  elicitationId: z.string(),
  /** Present for a sign-in that leads to a question's answer page, a link's page or the inbox. */
  about: z.enum(['answer', 'link', 'inbox']).optional(),
  /** The id of the attempt; empty for a sign-in. */
  flowId: z.string(),
  tenant: z.string(),
  userId: z.string(),
  toolId: z.string(),
  connectorId: z.string(),
});
/** One redirect of a browser to a provider, and its return. */
export type Flow = z.infer<typeof Flow>;

const Kept = z.object({ flow: Flow, sealed: z.string() });
const StoredState = z.record(z.string(), z.string());

interface FoundFlow {
  readonly flow: Flow;
  /** True if a browser has already returned from it. */
  readonly taken: boolean;
}

/** Redirects to providers that are under way. What the providers need on return is sealed before it is stored. */
export interface Flows {
  begin(name: PageEntryName, flow: Flow, callbackState: CallbackState): Promise<void>;
  find(name: PageEntryName): Promise<FoundFlow | undefined>;
  /** The callback state, for the first caller only. Undefined for all later callers, and when the state cannot be opened. */
  take(name: PageEntryName): Promise<CallbackState | undefined>;
  /** As `take`, but repeatable: for providers that may report more than once. */
  callbackStateOf(name: PageEntryName): Promise<CallbackState | undefined>;
  end(name: PageEntryName): Promise<void>;
}

interface FlowsDeps {
  readonly store: PageStore;
  readonly keys: KeyRing;
  /** Unique per call. */
  readonly mintTaker: () => string;
}

/** The name of a sign-in, by its state. */
export function signInName(state: string): PageEntryName {
  return { family: 'sign-in', id: state };
}

/** The name of a flow, by its state. */
export function flowName(state: string): PageEntryName {
  return { family: 'flow', id: state };
}

/** The name of a flow whose end the provider reports by webhook. */
export function reportName({ connectorId, flowId }: Pick<Flow, 'connectorId' | 'flowId'>): PageEntryName {
  return { family: 'report', id: JSON.stringify([connectorId, flowId]) };
}

export function createFlows({ store, keys, mintTaker }: FlowsDeps): Flows {
  function open(name: PageEntryName, value: string | undefined): CallbackState | undefined {
    const kept = value === undefined ? undefined : parsed(Kept, value);
    if (kept === undefined) return undefined;
    try {
      return parsed(StoredState, unseal(keys, identityOf(name, kept.flow), kept.sealed));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  return {
    async begin(name, flow, callbackState) {
      const sealed = seal(keys, identityOf(name, flow), JSON.stringify(callbackState));
      const ttlMs = name.family === 'sign-in' ? SIGN_IN_MS : FLOW_MS;
      const { tenant, userId } = flow;
      // The person is not known when a sign-in begins.
      const owners = userId === '' ? [] : [{ tenant, userId }];
      await store.put(name, JSON.stringify({ flow, sealed }), ttlMs, ...owners);
    },
    async find(name) {
      const entry = await store.read(name);
      const kept = entry === undefined ? undefined : parsed(Kept, entry.value);
      return entry === undefined || kept === undefined ? undefined : { flow: kept.flow, taken: entry.taken };
    },
    take: async (name) => open(name, await store.take(name, mintTaker())),
    callbackStateOf: async (name) => open(name, (await store.read(name))?.value),
    end: (name) => store.drop(name),
  };
}

/** The sealing is bound to the whole flow, so what was sealed for one browser or question cannot be opened for another. */
function identityOf({ family, id }: PageEntryName, flow: Flow): SealIdentity {
  const { tenant, userId, toolId, connectorId, browser, elicitationId, flowId } = flow;
  const recordId = sha256(JSON.stringify([family, id, browser, elicitationId, flowId]));
  return { purpose: 'flow', recordId, tenant, userId, toolId, connectorId };
}

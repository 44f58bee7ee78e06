/**
 * The vault's storage in one process, for development and tests. Sealing is not here: it stores texts that `vault/seal.ts`
 * made.
 */

import { bucketOf } from '@parley/core/domain/ids';
import type { CredentialRef } from '../domain/credential.ts';
import type { SealedKindsOf, SealedRecord } from '../ports/sealed.ts';
import type { FlowRef, StagedFlow, StoredCredential, VaultStore } from '../ports/vault.ts';
import { ownerKey } from './owner-key.ts';

interface MemoryCredential extends Omit<StoredCredential, 'now'> {
  readonly ref: CredentialRef;
  /** The flow that obtained the credential; absent after a replacement. */
  readonly flowId?: string;
}

interface Staged {
  readonly flow: StagedFlow;
  /** Undefined once the staged credential has expired; the flow is still listed then. */
  sealed: string | undefined;
  readonly expiry: NodeJS.Timeout;
}

const SLEEP_MAX_MS = 0x7fffffff;

/** Sealed credentials in one process. They are lost when it ends. */
export function createMemoryVaultStore(): VaultStore {
  const credentials = new Map<string, MemoryCredential>();
  const staged = new Map<string, Staged>();
  const leases = new Map<string, { readonly holder: string; readonly until: number }>();
  let latestVersion = 0;

  function put(ref: CredentialRef, sealed: string, flowId: string | undefined): number {
    latestVersion += 1;
    credentials.set(keyOf(ref), {
      ref: credentialRefOf(ref),
      sealed,
      version: latestVersion,
      state: 'usable',
      savedAt: Date.now(),
      ...(flowId !== undefined && { flowId }),
    });
    return latestVersion;
  }

  function unstage(flow: FlowRef): string | undefined {
    const entry = staged.get(keyOfFlow(flow));
    clearTimeout(entry?.expiry);
    staged.delete(keyOfFlow(flow));
    return entry?.sealed;
  }

  const flowOf = (ref: CredentialRef) => credentials.get(keyOf(ref))?.flowId;

  return {
    now: async () => Date.now(),
    async read(ref) {
      const held = credentials.get(keyOf(ref));
      if (held === undefined) return undefined;
      const { sealed, version, state, savedAt } = held;
      return { sealed, version, state, savedAt, now: Date.now() };
    },
    async write(ref, sealed, expectedVersion) {
      const held = credentials.get(keyOf(ref));
      // Sealing the same credential twice gives different texts, so an equal text means that this write was sent twice.
      if (held?.sealed === sealed) return held.version;
      if (expectedVersion === undefined) return put(ref, sealed, undefined);
      return expectedVersion === (held?.version ?? 0) ? put(ref, sealed, held?.flowId) : undefined;
    },
    async markReconnect(ref, version) {
      const held = credentials.get(keyOf(ref));
      if (held?.version !== version) return false;
      credentials.set(keyOf(ref), { ...held, state: 'reconnect_required' });
      return true;
    },
    async remove(ref, version) {
      const held = credentials.get(keyOf(ref));
      if (held !== undefined && held.version !== version) return false;
      credentials.delete(keyOf(ref));
      leases.delete(keyOf(ref));
      return true;
    },

    async stage(flow, sealed, ttlMs) {
      unstage(flow);
      const entry: Staged = {
        flow: { ...credentialRefOf(flow), flowId: flow.flowId, stagedAt: Date.now() },
        sealed,
        expiry: setTimeout(
          () => {
            entry.sealed = undefined;
          },
          Math.min(ttlMs, SLEEP_MAX_MS),
        ).unref(),
      };
      staged.set(keyOfFlow(flow), entry);
    },
    readStaged: async (flow) => staged.get(keyOfFlow(flow))?.sealed,
    async promote(flow, expected, sealed) {
      const there = staged.get(keyOfFlow(flow))?.sealed;
      if (there !== undefined && there !== expected) return 'changed';
      unstage(flow);
      if (there !== undefined) return put(flow, sealed, flow.flowId);
      return flowOf(flow) === flow.flowId ? credentials.get(keyOf(flow))?.version : undefined;
    },
    async drop(flow) {
      return unstage(flow) !== undefined || flowOf(flow) !== flow.flowId;
    },
    async stale(bucket, olderThanMs, limit, skip = 0) {
      const latest = Date.now() - olderThanMs;
      return [...staged.values()]
        .map(({ flow }) => flow)
        .filter((flow) => bucketOf(flow) === bucket && flow.stagedAt <= latest)
        .sort((one, other) => one.stagedAt - other.stagedAt)
        .slice(skip, skip + limit);
    },

    async lease(ref, holder, ttlMs) {
      const now = performance.now();
      const lease = leases.get(keyOf(ref));
      const open = lease !== undefined && lease.until > now;
      if (open && lease.holder !== holder) return false;
      leases.set(keyOf(ref), { holder, until: Math.max(open ? lease.until : 0, now + ttlMs) });
      return true;
    },
    async release(ref, holder) {
      if (leases.get(keyOf(ref))?.holder === holder) leases.delete(keyOf(ref));
    },

    async listOf(owner) {
      const key = ownerKey(owner);
      const refs = [...credentials.values()].map(({ ref }) => ref);
      const flows = [...staged.values()].map(({ flow }) => flow);
      return {
        credentials: refs.filter((ref) => ownerKey(ref) === key),
        staged: flows.filter((flow) => ownerKey(flow) === key),
      };
    },
    async *scan(signal) {
      signal?.throwIfAborted();
      const page: SealedRecord<SealedKindsOf<'vault'>>[] = [...credentials.values()].map(
        ({ ref, sealed }) => ({
          kind: 'credential',
          ref,
          sealed,
        }),
      );
      for (const { flow, sealed } of staged.values()) {
        if (sealed !== undefined) page.push({ kind: 'staged', ref: flow, sealed });
      }
      if (page.length > 0) yield page;
    },
    async rewrap(record, sealed) {
      if (record.kind === 'staged') {
        const entry = staged.get(keyOfFlow(record.ref));
        if (entry?.sealed === sealed) return true;
        if (entry?.sealed !== record.sealed) return false;
        entry.sealed = sealed;
        return true;
      }
      const held = credentials.get(keyOf(record.ref));
      if (held?.sealed === sealed) return true;
      if (held?.sealed !== record.sealed) return false;
      credentials.set(keyOf(record.ref), { ...held, sealed });
      return true;
    },
  };
}

function credentialRefOf({ tenant, userId, toolId, connectorId }: CredentialRef): CredentialRef {
  return { tenant, userId, toolId, connectorId };
}

function keyOf({ tenant, userId, toolId, connectorId }: CredentialRef): string {
  return JSON.stringify([tenant, userId, toolId, connectorId]);
}

function keyOfFlow(flow: FlowRef): string {
  return JSON.stringify([keyOf(flow), flow.flowId]);
}

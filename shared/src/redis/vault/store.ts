/**
 * The vault's storage on Redis. It sees only sealed texts; sealing is in `vault/seal.ts`, and the use of credentials in
 * `vault/vault.ts`.
 */

import type { CredentialRef } from '../../domain/credential.ts';
import type { FlowRef, StagedFlow, StoredCredential, VaultStore } from '../../ports/vault.ts';
import type { Commands } from '../client/connect.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import {
  credentialKey,
  flowMember,
  flowsKey,
  flowsKeyOf,
  leaseKey,
  listKey,
  parseFlowMember,
  parseRecordMember,
  recordMember,
  stagedKey,
} from './keys.ts';
import { recordKey, scanRecords } from './scan.ts';

/**
 * Sealed credentials in Redis, one hash each: in the slot of their owner's other data, or in a separate Redis over its own
 * connection. Such a Redis must be durable: with an append-only file, and without eviction.
 */
export function createRedisVaultStore(redis: Commands, onError?: (error: unknown) => void): VaultStore {
  const load = (name: string) => loadScript(redis, name, onError);
  const nowScript = load('client/now');
  const readScript = load('vault/read');
  const writeScript = load('vault/write');
  const markScript = load('vault/mark');
  const removeScript = load('vault/remove');
  const stageScript = load('vault/stage');
  const promoteScript = load('vault/promote');
  const dropScript = load('vault/drop');
  const staleScript = load('vault/stale');
  const rewrapScript = load('vault/rewrap');
  const readListed = load('vault/read-listed');
  const claimScript = load('client/claim');
  const releaseScript = load('client/release');
  const flowKeys = (flow: FlowRef) => [credentialKey(flow), stagedKey(flow), flowsKeyOf(flow), listKey(flow)];

  return {
    now: async (owner) => Number(await nowScript([listKey(owner)], [])),
    read: async (ref) => storedOf((await readScript([credentialKey(ref)], [])) as StoredFields),
    async write(ref, sealed, expectedVersion) {
      const args = [sealed, expectedVersion ?? '', recordMember(ref)];
      const version = Number(await writeScript([credentialKey(ref), listKey(ref)], args));
      return version === 0 ? undefined : version;
    },
    markReconnect: async (ref, version) => (await markScript([credentialKey(ref)], [version])) === 1,
    async remove(ref, version) {
      const keys = [credentialKey(ref), listKey(ref), leaseKey(ref)];
      return (await removeScript(keys, [version, recordMember(ref)])) === 1;
    },
    async stage(flow, sealed, ttlMs) {
      await stageScript(
        [stagedKey(flow), flowsKeyOf(flow), listKey(flow)],
        [sealed, ttlMs, flowMember(flow)],
      );
    },
    async readStaged(flow) {
      return (await orUnavailable(() => redis.hget(stagedKey(flow), 'sealed'), onError)) ?? undefined;
    },
    async promote(flow, staged, sealed) {
      const args = [flow.flowId, flowMember(flow), staged ?? '', sealed, recordMember(flow)];
      const version = Number(await promoteScript(flowKeys(flow), args));
      if (version === -1) return 'changed';
      return version === 0 ? undefined : version;
    },
    drop: async (flow) => (await dropScript(flowKeys(flow), [flow.flowId, flowMember(flow)])) === 1,
    async stale(bucket, olderThanMs, limit, skip = 0) {
      return flowsOf((await staleScript([flowsKey(bucket)], [olderThanMs, limit, skip])) as string[]);
    },
    lease: async (ref: CredentialRef, holder, ttlMs) =>
      (await claimScript([leaseKey(ref)], [holder, ttlMs])) === holder,
    async release(ref, holder) {
      await releaseScript([leaseKey(ref)], [holder]);
    },
    async listOf(owner) {
      const members = await orUnavailable(() => redis.smembers(listKey(owner)), onError);
      return {
        credentials: members.map(parseRecordMember).filter((ref) => ref !== undefined),
        staged: members.map(parseFlowMember).filter((flow) => flow !== undefined),
      };
    },
    scan: (signal) => scanRecords(redis, readListed, onError, signal),
    rewrap: async (record, sealed) =>
      (await rewrapScript([recordKey(record)], [record.sealed, sealed])) === 1,
  };
}

/** The reply of vault/read. */
type StoredFields = readonly [...fields: readonly (string | null)[], now: number];

function storedOf([sealed, version, state, savedAt, now]: StoredFields): StoredCredential | undefined {
  if (typeof sealed !== 'string') return undefined;
  return {
    sealed,
    version: Number(version),
    state: state === 'reconnect_required' ? state : 'usable',
    savedAt: Number(savedAt),
    now: Number(now),
  };
}

function flowsOf(flat: readonly string[]): StagedFlow[] {
  const flows: StagedFlow[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const flow = parseFlowMember(flat[at] ?? '');
    if (flow !== undefined) flows.push({ ...flow, stagedAt: Number(flat[at + 1]) });
  }
  return flows;
}

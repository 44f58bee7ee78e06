import { BUCKET_COUNT, bucketOf, type Owner } from '@parley/core/domain/ids';
import type { CredentialRef } from '../../domain/credential.ts';
import type { FlowRef } from '../../ports/vault.ts';
import type { KeyName } from '../client/key-names.ts';
import { ownedBy, tagOf } from '../client/keys.ts';

const CREDENTIAL = 'credential';
const STAGED = 'credential-staged';
const LEASE = 'credential-lease';
const FLOWS = 'credential-flows';
const LIST = 'credential-list';

/** The SCAN pattern of all keys with sealed values. It also matches the leases and the lists of flows. */
export const VAULT_KEYS = 'parley:{b*}:credential*';

/** Hash: one credential, sealed. */
export function credentialKey(ref: CredentialRef): string {
  return ownedBy(ref, CREDENTIAL, restOf(ref));
}

/** String: the process that is refreshing a credential. */
export function leaseKey(ref: CredentialRef): string {
  return ownedBy(ref, LEASE, restOf(ref));
}

/** Hash: the sealed credential that a flow obtained and that no call may use yet. */
export function stagedKey(flow: FlowRef): string {
  return ownedBy(flow, STAGED, `${restOf(flow)}/${encodeURIComponent(flow.flowId)}`);
}

/** Sorted set: the flows of a bucket with a staged credential, by the time of staging. */
export function flowsKey(bucket: number): string {
  return `parley:{${tagOf(bucket % BUCKET_COUNT)}}:${FLOWS}`;
}

/** Set: a person's records, as `recordMember` and `flowMember` name them. */
export function listKey(owner: Owner): string {
  return ownedBy(owner, LIST);
}

/** The list member of a credential. */
export function recordMember({ tenant, userId, toolId, connectorId }: CredentialRef): string {
  return [tenant, userId, toolId, connectorId].map(encodeURIComponent).join('/');
}

/** Parses a member of `recordMember`; undefined for any other text. */
export function parseRecordMember(member: string): CredentialRef | undefined {
  const [tenant, userId, toolId, connectorId, ...others] = partsOf(member);
  if (tenant === undefined || userId === undefined || toolId === undefined) return undefined;
  if (connectorId === undefined || others.length > 0) return undefined;
  return { tenant, userId, toolId, connectorId };
}

/** The sorted set that lists this flow, in its owner's slot. */
export function flowsKeyOf(flow: FlowRef): string {
  return flowsKey(bucketOf(flow));
}

/** The list member of a flow. */
export function flowMember({ tenant, userId, toolId, connectorId, flowId }: FlowRef): string {
  return [tenant, userId, toolId, connectorId, flowId].map(encodeURIComponent).join('/');
}

/** Parses a member of `flowMember`; undefined for any other text. */
export function parseFlowMember(member: string): FlowRef | undefined {
  const [tenant, userId, toolId, connectorId, flowId, ...others] = partsOf(member);
  if (tenant === undefined || userId === undefined || toolId === undefined) return undefined;
  if (connectorId === undefined || flowId === undefined || others.length > 0) return undefined;
  return { tenant, userId, toolId, connectorId, flowId };
}

/** The record that a key names. */
export type RecordName =
  | { readonly kind: 'credential'; readonly ref: CredentialRef }
  | { readonly kind: 'staged'; readonly ref: FlowRef };

/** Parses the key of a record; undefined for any other key. */
export function parseRecordKey({ family, rest }: KeyName): RecordName | undefined {
  if (family === STAGED) {
    const ref = parseFlowMember(rest);
    return ref === undefined ? undefined : { kind: 'staged', ref };
  }
  if (family !== CREDENTIAL) return undefined;
  const ref = parseRecordMember(rest);
  return ref === undefined ? undefined : { kind: 'credential', ref };
}

function restOf({ toolId, connectorId }: CredentialRef): string {
  return `/${encodeURIComponent(toolId)}/${encodeURIComponent(connectorId)}`;
}

function partsOf(path: string): string[] {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return [];
  }
}

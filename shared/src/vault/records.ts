import { Credential, type CredentialRef } from '../domain/credential.ts';
import type { FlowRef, SealedRecord } from '../ports/vault.ts';
import type { KeyRing } from './key-ring.ts';
import { SealError, type SealIdentity, seal, unseal } from './seal.ts';

/** The identity to which a usable credential is sealed. */
export function credentialIdentity({ tenant, userId, toolId, connectorId }: CredentialRef): SealIdentity {
  return { purpose: 'credential', recordId: '', tenant, userId, toolId, connectorId };
}

/** The identity to which a staged credential is sealed. It includes the connect flow. */
export function stagedIdentity({ tenant, userId, toolId, connectorId, flowId }: FlowRef): SealIdentity {
  return { purpose: 'staged', recordId: flowId, tenant, userId, toolId, connectorId };
}

/** The identity to which a stored record is sealed. */
export function identityOf(record: SealedRecord): SealIdentity {
  return record.kind === 'staged' ? stagedIdentity(record.ref) : credentialIdentity(record.ref);
}

/** Seals a credential. */
export function sealCredential(keys: KeyRing, identity: SealIdentity, credential: Credential): string {
  return seal(keys, identity, JSON.stringify(credential));
}

/** Opens a credential and checks its shape. Throws only SealError, because other errors may quote the content. */
export function openCredential(keys: KeyRing, identity: SealIdentity, sealed: string): Credential {
  const parsed = Credential.safeParse(jsonOf(unseal(keys, identity, sealed)));
  if (parsed.success) return parsed.data;
  throw new SealError('not_a_credential', 'The sealed record is not a credential of a known kind.');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import type { StreamRef } from '@parley/core/domain/ids';
import { parsed } from '@parley/core/domain/parsed';
import { Credential, type CredentialRef } from '../domain/credential.ts';
import type { RewrappedKind, RoundRef, SealedRecord } from '../ports/sealed.ts';
import type { FlowRef } from '../ports/vault.ts';
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

/** The identity to which a round of questions is sealed. It includes the call and the server. */
export function roundIdentity({ tenant, userId, callKey, serverId }: RoundRef): SealIdentity {
  return { purpose: 'round', recordId: callKey, tenant, userId, toolId: serverId, connectorId: '' };
}

/** The identity to which a push target is sealed. It includes the task. */
export function pushIdentity({ tenant, userId, streamRequestId }: StreamRef): SealIdentity {
  return { purpose: 'push', recordId: streamRequestId, tenant, userId, toolId: '', connectorId: '' };
}

const IDENTITIES: { readonly [Kind in RewrappedKind]: (ref: SealedRecord<Kind>['ref']) => SealIdentity } = {
  credential: credentialIdentity,
  staged: stagedIdentity,
  round: roundIdentity,
  push: pushIdentity,
};

/** The identity to which a stored record is sealed. */
export function identityOf({ kind, ref }: SealedRecord): SealIdentity {
  return (IDENTITIES[kind] as (ref: SealedRecord['ref']) => SealIdentity)(ref);
}

/** Seals a credential. */
export function sealCredential(keys: KeyRing, identity: SealIdentity, credential: Credential): string {
  return seal(keys, identity, JSON.stringify(credential));
}

/** Opens a credential and checks its shape. Throws only SealError, because other errors may quote the content. */
export function openCredential(keys: KeyRing, identity: SealIdentity, sealed: string): Credential {
  const credential = parsed(Credential, unseal(keys, identity, sealed));
  if (credential !== undefined) return credential;
  throw new SealError('not_a_credential', 'The sealed record is not a credential of a known kind.');
}

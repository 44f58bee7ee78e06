import { bucketOfElicitationId, type Owner } from '@parley/core/domain/ids';
import { SECRET_TOOL_ID } from '@parley/shared/domain/credential';
import type { Claims } from '@parley/shared/ports/elicitations/claims';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import type { FlowRef } from '@parley/shared/ports/vault';
import type { Vault } from '@parley/shared/vault/vault';
import { SECRET_CONNECTOR_ID } from './connectors/secret.ts';
import { knownFlowId } from './flow-id.ts';

interface SecretsDeps {
  readonly elicitations: Pick<Elicitations, 'read'>;
  readonly claims: Claims;
  readonly vault: Pick<Vault, 'staged'>;
  /** How long a claim on a secret lasts, in ms. Must be at least as long as a secret is stored. */
  readonly takenMs: number;
}

interface SecretPageRequest {
  readonly owner: Owner;
  readonly elicitationId: string;
  readonly tool: string;
  readonly taker: string;
}

/** Delivers secrets that people typed for a tool, each only to the first call that claims it. */
export function createSecrets({ elicitations, claims, vault, takenMs }: SecretsDeps) {
  /** The secret that a call may take: its question belongs to the owner, is meant for the tool, and was accepted. */
  async function stagedFor({ owner, elicitationId, tool }: SecretPageRequest) {
    if (bucketOfElicitationId(elicitationId) === undefined) return undefined;
    const { row } = await elicitations.read(elicitationId);
    if (row === undefined || row.status !== 'accepted') return undefined;
    const { tenant, userId, context } = row.definition;
    const isTheirs = tenant === owner.tenant && userId === owner.userId;
    if (!isTheirs || context.toolId !== SECRET_TOOL_ID || context.toolName !== tool) return undefined;
    const credential = (await vault.staged(secretFlow(owner, elicitationId)))?.reveal();
    return credential?.kind === 'api_key' ? credential.value : undefined;
  }

  return {
    awaits: async (request: SecretPageRequest): Promise<boolean> => (await stagedFor(request)) !== undefined,
    async redeem(request: SecretPageRequest): Promise<string | undefined> {
      const { owner, elicitationId, taker } = request;
      const value = await stagedFor(request);
      if (value === undefined) return undefined;
      const name = { family: 'secret', tenant: owner.tenant, name: elicitationId } as const;
      if ((await claims.claim(name, taker, takenMs)) !== taker) return undefined;
      return value;
    },
  };
}

function secretFlow({ tenant, userId }: Owner, elicitationId: string): FlowRef {
  return {
    tenant,
    userId,
    toolId: SECRET_TOOL_ID,
    connectorId: SECRET_CONNECTOR_ID,
    flowId: knownFlowId(elicitationId),
  };
}

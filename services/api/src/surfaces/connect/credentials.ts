import type { CredentialRef, Presentation } from '@parley/shared/domain/credential';
import { type FreshCredentialOf, InvalidGrantError, type RefreshCall } from '@parley/shared/vault/refresh';
import { SealError } from '@parley/shared/vault/seal';
import type { Vault } from '@parley/shared/vault/vault';
import type { Connector } from './connectors/connector.ts';
import { knownFlowId } from './flows/flow-id.ts';

export interface CredentialsDeps {
  readonly vault: Pick<Vault, 'markReconnect' | 'promote'>;
  /** Completes the owner's open questions for an account that is usable. */
  readonly completeOpen: (ref: CredentialRef) => Promise<void>;
  readonly fresh: FreshCredentialOf;
  readonly connectorOf: (connectorId: string) => Connector | undefined;
  /** Called when no key opens a record. */
  readonly onFault: (error: SealError, ref: CredentialRef) => void;
}

/** Reads credentials from the vault for tool calls: refreshed, as the headers of one call. */
export function createCredentials({ vault, fresh, connectorOf, completeOpen, onFault }: CredentialsDeps) {
  return {
    async present(ref: CredentialRef, rejected?: number): Promise<Presentation> {
      const connector = connectorOf(ref.connectorId);
      if (connector === undefined) return { type: 'absent' };
      const held = await freshOrDamaged(ref, connector, rejected);
      if (held === 'damaged') return { type: 'reconnect_required' };
      if (held.status !== 'usable') return { type: held.status };
      const { version } = held;
      const shown = await connector.headersFor(held.credential.reveal());
      if (shown.type === 'presented') {
        const { headers, scope } = shown;
        return { type: 'presented', headers, version, ...(scope !== undefined && { scope }) };
      }
      if (shown.code === 'unavailable') return { type: 'unavailable' };
      await vault.markReconnect(ref, version);
      return { type: 'reconnect_required' };
    },
    async refused(ref: CredentialRef, version: number): Promise<void> {
      await vault.markReconnect(ref, version);
    },
    async promote(ref: CredentialRef, elicitationId: string): Promise<void> {
      try {
        await vault.promote({ ...ref, flowId: knownFlowId(elicitationId) });
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        onFault(error, ref);
      }
      await completeOpen(ref);
    },
    completeOpen,
  };

  /** A credential, or `damaged` where no key opens it. Connecting again replaces a damaged one. */
  async function freshOrDamaged(ref: CredentialRef, connector: Connector, rejected: number | undefined) {
    try {
      return await fresh(ref, refreshBy(connector), rejected === undefined ? {} : { rejected });
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      onFault(error, ref);
      return 'damaged';
    }
  }
}

function refreshBy(connector: Connector): RefreshCall {
  return async (tokens, signal) => {
    const result = await connector.refresh(tokens, signal);
    if (result.type === 'refreshed' && result.credential.kind === 'oauth2') return result.credential;
    if (result.type !== 'failed') throw new InvalidGrantError();
    const { code, detail, providerError } = result;
    const reason = providerError === undefined ? detail : `${detail}: ${providerError}`;
    throw code === 'unavailable' ? new Error(reason) : new InvalidGrantError(reason);
  };
}

import type { CredentialRef, OAuthCredential, Presentation } from '@parley/shared/domain/credential';
import { type FreshCredentialOf, InvalidGrantError, type Renewal } from '@parley/shared/vault/refresh';
import { SealError } from '@parley/shared/vault/seal';
import type { Vault } from '@parley/shared/vault/vault';
import type { Connector, CredentialFailure, ProjectConnector, Refreshed } from './connectors/connector.ts';
import { knownFlowId } from './flows/flow-id.ts';

export interface CredentialsDeps {
  readonly vault: Pick<Vault, 'markReconnect' | 'promote' | 'remove'>;
  /** Completes the owner's open questions for an account that is usable. */
  readonly completeOpen: (ref: CredentialRef) => Promise<void>;
  readonly fresh: FreshCredentialOf;
  readonly connectorOf: (connectorId: string, toolId: string) => TokenSource | undefined;
  /** Called when no key opens a record. */
  readonly onFault: (error: SealError, ref: CredentialRef) => void;
}

/** What gets new tokens, and says how they are sent. */
type TokenSource = Pick<Connector, 'refresh' | 'headersFor'> | ProjectConnector;

/** Reads credentials from the vault for tool calls: refreshed, as the headers of one call. */
export function createCredentials({ vault, fresh, connectorOf, completeOpen, onFault }: CredentialsDeps) {
  async function present(
    ref: CredentialRef,
    rejected: number | undefined,
    isReplacement = false,
  ): Promise<Presentation> {
    const connector = connectorOf(ref.connectorId, ref.toolId);
    if (connector === undefined) return { type: 'absent' };
    // What does not open, or was obtained under another configuration, is replaced at once where nobody has to be asked.
    const isReplaced = 'obtain' in connector && !isReplacement;
    const held = await freshOrDamaged(ref, connector, rejected);
    if (held === 'damaged') {
      if (!isReplaced) return { type: 'reconnect_required' };
      await vault.remove(ref);
      return present(ref, rejected, true);
    }
    if (held.status !== 'usable') return { type: held.status };
    const { version } = held;
    const shown = await connector.headersFor(held.credential.reveal());
    if (shown.type === 'presented') {
      const { headers, proofKey, scope } = shown;
      const bound = proofKey !== undefined && { proofKey };
      return { type: 'presented', headers, ...bound, version, ...(scope !== undefined && { scope }) };
    }
    if (shown.code === 'unavailable') return { type: 'unavailable' };
    await vault.markReconnect(ref, version);
    return isReplaced ? present(ref, version, true) : { type: 'reconnect_required' };
  }

  return {
    present: (ref: CredentialRef, rejected?: number) => present(ref, rejected),
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
  async function freshOrDamaged(ref: CredentialRef, connector: TokenSource, rejected: number | undefined) {
    try {
      return await fresh(ref, renewalBy(connector), rejected === undefined ? {} : { rejected });
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      onFault(error, ref);
      return 'damaged';
    }
  }
}

function renewalBy(connector: TokenSource): Renewal {
  return 'obtain' in connector
    ? { obtain: async (signal) => tokensOf(await connector.obtain(signal)) }
    : async (tokens, signal) => tokensOf(await connector.refresh(tokens, signal));
}

function tokensOf(result: Refreshed | CredentialFailure): OAuthCredential {
  if (result.type === 'refreshed' && result.credential.kind === 'oauth2') return result.credential;
  if (result.type !== 'failed') throw new InvalidGrantError();
  const { code, detail, providerError } = result;
  const reason = providerError === undefined ? detail : `${detail}: ${providerError}`;
  throw code === 'unavailable' ? new Error(reason) : new InvalidGrantError(reason);
}

/**
 * Gives tool calls the credentials that they need, refreshed and as headers. Asking people for missing accounts is not done
 * here, but in `agents/tools`.
 */

import type { CredentialRef, Presentation } from '@parley/shared/domain/credential';
import type { FreshCredential, FreshCredentialOf, FreshOptions } from '@parley/shared/vault/refresh';
import { SealError } from '@parley/shared/vault/seal';
import type { Vault } from '@parley/shared/vault/vault';
import type { Connector, ProjectConnector } from './connector.ts';
import { knownFlowId } from './flow-id.ts';
import type { ManagedAccounts, ManagedConnector } from './managed/accounts.ts';
import { tokensOf } from './tokens-of.ts';

interface CredentialsDeps {
  readonly vault: Pick<Vault, 'markReconnect' | 'promote' | 'remove'>;
  /** Completes the owner's open questions for an account that is usable. */
  readonly completeOpen: (ref: CredentialRef) => Promise<void>;
  readonly fresh: FreshCredentialOf;
  /** Present where sign-ins connect accounts. */
  readonly managed?: ManagedAccounts;
  readonly connectorOf: (connectorId: string, toolId: string) => TokenSource | undefined;
  /** Called when no key opens a stored credential. */
  readonly onFault: (error: SealError, ref: CredentialRef) => void;
}

/** A connector that obtains new tokens and says how to send them. */
type TokenSource = PersonalSource | ProjectConnector;
type PersonalSource = Pick<Connector, 'refresh' | 'headersFor' | 'revoke' | 'obtainFor'>;

/** The version of the credential that a server refused, and the scopes that it wants. */
interface RefusedVersion extends FreshOptions {
  readonly scope?: string;
}

/** Reads credentials for tool calls from the vault, refreshes them, and returns the headers of one call. */
export function createCredentials(deps: CredentialsDeps) {
  const { vault, fresh, managed, connectorOf, completeOpen, onFault } = deps;

  async function present(
    ref: CredentialRef,
    refused: RefusedVersion,
    isReplacement = false,
  ): Promise<Presentation> {
    const connector = connectorOf(ref.connectorId, ref.toolId);
    if (connector === undefined) return { type: 'absent' };
    // A project's credential that no key opens, or that another configuration obtained, is replaced at once, because no person
    // has to be asked.
    const isOfProject = 'obtain' in connector;
    const held = await freshOrDamaged(ref, connector, refused);
    if (held === 'damaged') {
      if (!isOfProject || isReplacement) return { type: 'reconnect_required' };
      await vault.remove(ref);
      return present(ref, refused, true);
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
    const isReplaced = (isOfProject || managedBy(connector) !== undefined) && !isReplacement;
    return isReplaced ? present(ref, { rejected: version }, true) : { type: 'reconnect_required' };
  }

  return {
    present: (ref: CredentialRef, rejected?: number, scope?: string) =>
      present(ref, { ...(rejected !== undefined && { rejected }), ...(scope !== undefined && { scope }) }),
    async widen(ref: CredentialRef, scope: string): Promise<void> {
      const connector = connectorOf(ref.connectorId, ref.toolId);
      const source = connector && managedBy(connector);
      if (source !== undefined) await managed?.widen(ref, source, scope);
    },
    async refused(ref: CredentialRef, version: number): Promise<void> {
      const connector = connectorOf(ref.connectorId, ref.toolId);
      const isManaged = connector !== undefined && managedBy(connector) !== undefined;
      if (isManaged && (await managed?.withhold(ref, version))) return;
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
  async function freshOrDamaged(ref: CredentialRef, connector: TokenSource, refused: RefusedVersion) {
    try {
      return await freshBy(ref, connector, refused);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      onFault(error, ref);
      return 'damaged';
    }
  }
  async function freshBy(
    ref: CredentialRef,
    connector: TokenSource,
    { scope, ...options }: RefusedVersion,
  ): Promise<FreshCredential> {
    if ('obtain' in connector)
      return fresh(
        ref,
        { obtain: async (signal) => tokensOf(await connector.obtain(signal, scope)) },
        options,
      );
    const source = managedBy(connector);
    const before = source && (await managed?.fresh(ref, source, options));
    if (before !== undefined) return before;
    const held = await fresh(
      ref,
      async (tokens, signal) => tokensOf(await connector.refresh(tokens, signal)),
      options,
    );
    // The account that the person connected by hand has ended. Their company sign-in may replace it.
    const after =
      held.status === 'reconnect_required' && source && (await managed?.fresh(ref, source, options));
    return after || held;
  }
}

function managedBy(connector: TokenSource): ManagedConnector | undefined {
  if ('obtain' in connector || connector.obtainFor === undefined) return undefined;
  const { obtainFor, revoke } = connector;
  return { obtainFor, revoke };
}

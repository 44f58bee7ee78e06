/**
 * Obtains and renews the accounts that a company sign-in connects. The sign-ins are stored by `sign-ins.ts`, the requests are
 * made by the connectors.
 */

import type { Credential, CredentialRef } from '@parley/shared/domain/credential';
import {
  type FreshCredential,
  type FreshCredentialOf,
  type FreshOptions,
  InvalidGrantError,
} from '@parley/shared/vault/refresh';
import type { OpenedCredential, Vault } from '@parley/shared/vault/vault';
import type { Connector } from '../connector.ts';
import { tokensOf } from '../tokens-of.ts';
import type { SignIns } from './sign-ins.ts';

/** A connector whose accounts the company sign-in can connect. */
export type ManagedConnector = Pick<Connector, 'revoke'> & Required<Pick<Connector, 'obtainFor'>>;

/** Accounts that company sign-ins connect (enterprise-managed authorization). Throws `unavailable` and SealError. */
export interface ManagedAccounts {
  /**
   * The credential, which the person's sign-in obtains if necessary. `absent`: the sign-in may not obtain it, because the
   * person disconnected the account or the last attempt was refused a short time ago. Undefined if the person connected the
   * account by hand, or if there is neither an account nor a sign-in.
   */
  fresh(
    ref: CredentialRef,
    connector: ManagedConnector,
    options: FreshOptions,
  ): Promise<FreshCredential | undefined>;
  /**
   * Obtains tokens with these additional scopes, if the sign-in obtained the present tokens. After a refusal the present tokens
   * stay.
   */
  widen(ref: CredentialRef, connector: ManagedConnector, scope: string): Promise<void>;
  /**
   * Records that the service refuses the tokens of the sign-in. Returns false for a credential that the person connected by
   * hand.
   */
  withhold(ref: CredentialRef, version: number): Promise<boolean>;
}

interface ManagedAccountsDeps {
  readonly vault: Pick<Vault, 'read' | 'save' | 'remove'>;
  readonly freshCredential: FreshCredentialOf;
  readonly signIns: Pick<SignIns, 'since'>;
}

/** How long a refused sign-in is not tried again, unless the person has signed in again. */
const REFUSED_MS = 5 * 60_000;
const ABSENT: FreshCredential = { status: 'absent' };
const REFUSED: Credential = { kind: 'withheld', why: 'refused' };

/** Obtains managed accounts through the vault's refresh, so that only one pod at a time does it. */
export function createManagedAccounts(deps: ManagedAccountsDeps): ManagedAccounts {
  const { vault, freshCredential, signIns } = deps;

  /**
   * `none`: nothing may be obtained, and no other credential exists. `other`: the sign-in did not obtain the stored credential.
   */
  async function verdictOn(ref: CredentialRef): Promise<'obtain' | 'none' | 'other'> {
    const held = await vault.read(ref);
    if (held?.state === 'usable') return isManaged(held) ? 'obtain' : 'other';
    const withheld = withheldIn(held);
    if (withheld === 'disconnected') return 'none';
    const since = await signIns.since(ref);
    if (since === undefined) return withheld === undefined ? 'other' : 'none';
    const isRefused = withheld !== undefined && held !== undefined && since <= held.savedAt;
    return isRefused && held.now - held.savedAt < REFUSED_MS ? 'none' : 'obtain';
  }

  async function obtained(ref: CredentialRef, connector: ManagedConnector, options: FreshOptions) {
    let outcome: 'obtained' | 'refused' | undefined;
    const obtain = async (signal: AbortSignal) => {
      // The check is repeated under the lease: the person may have disconnected the account since the first one.
      if ((await verdictOn(ref)) !== 'obtain')
        throw new InvalidGrantError('the sign-in is not to connect the account');
      const result = await connector.obtainFor(ref);
      // An abandoned request has used nothing up. It stops here, because the check for an erasure of the person is over.
      if (signal.aborted) throw new Error('the token came too late');
      if (result.type === 'refreshed') outcome = 'obtained';
      else if (result.code === 'invalid_grant') outcome = 'refused';
      return tokensOf(result);
    };
    const held = await freshCredential(ref, { obtain }, options);
    return { held, outcome };
  }

  /** Tokens are not stored if the account was disconnected during the call. */
  async function unlessDisconnected(ref: CredentialRef, held: FreshCredential) {
    return (await verdictOn(ref)) === 'none' ? ABSENT : held;
  }

  /**
   * If the sign-in ended during the call, its new tokens are dropped as well: an erasure may already have passed the account.
   */
  async function unlessSignedOut(ref: CredentialRef, { revoke }: ManagedConnector, held: FreshCredential) {
    if ((await signIns.since(ref)) !== undefined) return held;
    const removed = await vault.remove(ref);
    if (removed !== undefined) await revoke(removed.reveal());
    return ABSENT;
  }

  return {
    async fresh(ref, connector, options) {
      const verdict = await verdictOn(ref);
      if (verdict !== 'obtain') return verdict === 'none' ? ABSENT : undefined;
      const { held, outcome } = await obtained(ref, connector, options);
      if (held.status === 'absent' || held.status === 'reconnect_required') {
        if (outcome === 'refused')
          await vault.save(ref, REFUSED, held.status === 'absent' ? 0 : held.version);
        // The result is always the same: a run that another pod takes over must not ask a second time.
        return ABSENT;
      }
      if (held.status === 'unavailable') return unlessDisconnected(ref, held);
      return outcome === 'obtained' ? unlessSignedOut(ref, connector, held) : held;
    },
    async widen(ref, connector, scope) {
      const held = await vault.read(ref);
      if (held?.state !== 'usable' || !isManaged(held)) return;
      const result = await connector.obtainFor(ref, scope);
      // No lease is needed, because no token is used up. Tokens that were removed have no version any more.
      if (result.type === 'refreshed') await vault.save(ref, result.credential, held.version);
    },
    async withhold(ref, version) {
      const held = await vault.read(ref);
      if (held === undefined || !isManaged(held)) return false;
      if (held.version === version) await vault.save(ref, REFUSED, version);
      return true;
    },
  };
}

function isManaged({ credential }: OpenedCredential): boolean {
  const value = credential.reveal();
  return value.kind === 'oauth2' && value.managed === true;
}

function withheldIn(held: OpenedCredential | undefined): 'disconnected' | 'refused' | undefined {
  const value = held?.credential.reveal();
  return value?.kind === 'withheld' ? value.why : undefined;
}

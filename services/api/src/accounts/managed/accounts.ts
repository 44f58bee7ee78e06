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

/** Accounts that people's company sign-ins connect (enterprise-managed authorization). Throws `unavailable`, and SealError. */
export interface ManagedAccounts {
  /**
   * The credential, obtained by the person's sign-in if necessary. `absent` where the sign-in may not obtain it: the person
   * disconnected the account, or the last attempt was refused a short time ago. Undefined where the sign-in has nothing to do
   * with it: the person connected the account by hand, or there is neither an account nor a sign-in.
   */
  fresh(
    ref: CredentialRef,
    connector: ManagedConnector,
    options: FreshOptions,
  ): Promise<FreshCredential | undefined>;
  /** Obtains tokens that have these scopes, too, where the sign-in obtained the present ones. They stay after a refusal. */
  widen(ref: CredentialRef, connector: ManagedConnector, scope: string): Promise<void>;
  /** Records that the service refuses what the sign-in obtains. False for a credential that the person connected by hand. */
  withhold(ref: CredentialRef, version: number): Promise<boolean>;
}

interface ManagedAccountsDeps {
  readonly vault: Pick<Vault, 'read' | 'save' | 'remove'>;
  readonly freshCredential: FreshCredentialOf;
  readonly signIns: Pick<SignIns, 'since'>;
}

/** After a refusal, a sign-in is not tried again for so long, unless it is a newer one. */
const REFUSED_MS = 5 * 60_000;
const ABSENT: FreshCredential = { status: 'absent' };
const REFUSED: Credential = { kind: 'withheld', why: 'refused' };

/** Obtains managed accounts through the refresh of the vault: once over all pods. */
export function createManagedAccounts(deps: ManagedAccountsDeps): ManagedAccounts {
  const { vault, freshCredential, signIns } = deps;

  /** `none`: nothing may be obtained, and there is nothing else to use. `other`: what is stored is not obtained by the sign-in. */
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
      // Looked at again with the lease: the person may have disconnected the account in the meantime.
      if ((await verdictOn(ref)) !== 'obtain')
        throw new InvalidGrantError('the sign-in is not to connect the account');
      const result = await connector.obtainFor(ref);
      // Nothing is used up, and nobody looks any more whether the person has been erased in the meantime.
      if (signal.aborted) throw new Error('the token came too late');
      if (result.type === 'refreshed') outcome = 'obtained';
      else if (result.code === 'invalid_grant') outcome = 'refused';
      return tokensOf(result);
    };
    const held = await freshCredential(ref, { obtain }, options);
    return { held, outcome };
  }

  /** After an account was disconnected during the call, what was obtained is not stored. */
  async function unlessDisconnected(ref: CredentialRef, held: FreshCredential) {
    return (await verdictOn(ref)) === 'none' ? ABSENT : held;
  }

  /** A sign-in that ended during the call takes along what it obtained: an erasure may have passed the account by now. */
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
        // Always the same: a run that another pod takes over must not ask a second time.
        return ABSENT;
      }
      if (held.status === 'unavailable') return unlessDisconnected(ref, held);
      return outcome === 'obtained' ? unlessSignedOut(ref, connector, held) : held;
    },
    async widen(ref, connector, scope) {
      const held = await vault.read(ref);
      if (held?.state !== 'usable' || !isManaged(held)) return;
      const result = await connector.obtainFor(ref, scope);
      // Without a lease: nothing of the present tokens is used up. They have no version any more where they were removed.
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

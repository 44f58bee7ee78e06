import type { Owner } from '@parley/core/domain/ids';
import type { CredentialRef, OAuthCredential, Presentation } from '@parley/shared/domain/credential';
import type { Engine } from '@parley/shared/elicitations/engine';
import { openPages } from '@parley/shared/elicitations/open-pages';
import { isOnOurPage } from '../own-pages.ts';
import type { AccountTargets } from '../targets.ts';
import type { SignIns } from './sign-ins.ts';

/** What a sign-in on the hosted pages does to the accounts that it connects. Both throw `unavailable`. */
export interface SignInAccounts {
  /** Stores the sign-in, and connects the accounts for which the person is asked at present. */
  signedIn(owner: Owner, signIn: OAuthCredential): Promise<void>;
  /** Ends the sign-in. Accounts that it connected end with their tokens. */
  signedOut(owner: Owner): Promise<void>;
}

interface SignInAccountsDeps {
  readonly signIns: Pick<SignIns, 'save' | 'end'>;
  readonly engine: Pick<Engine, 'openRecords'>;
  readonly targets: Pick<AccountTargets, 'credentials'>;
  readonly credentials: {
    present(ref: CredentialRef): Promise<Presentation>;
    completeOpen(ref: CredentialRef): Promise<void>;
  };
  /** Origin of the connect pages. */
  readonly publicUrl: string;
}

/** Connects what is asked for, so that a person who signs in for one question has answered it by that. */
export function createSignInAccounts(deps: SignInAccountsDeps): SignInAccounts {
  const { signIns, targets, credentials } = deps;

  async function connect({ tenant, userId }: Owner, toolId: string): Promise<void> {
    const target = targets.credentials().find((one) => one.toolId === toolId);
    if (target?.connector.obtainFor === undefined) return;
    const ref = { tenant, userId, toolId, connectorId: target.connector.id };
    if ((await credentials.present(ref)).type === 'presented') await credentials.completeOpen(ref);
  }

  return {
    async signedIn(owner, signIn) {
      await signIns.save(owner, signIn);
      const asked = await askedTools(deps, owner);
      await Promise.all([...asked].map((toolId) => connect(owner, toolId)));
    },
    signedOut: ({ tenant, userId }) => signIns.end({ tenant, userId }),
  };
}

/** The tools for whose accounts the person is asked on our pages. */
async function askedTools(
  { engine, publicUrl }: SignInAccountsDeps,
  { tenant, userId }: Owner,
): Promise<ReadonlySet<string>> {
  const asked = new Set<string>();
  for await (const { records } of openPages((request) => engine.openRecords(request), {
    owner: { tenant, userId },
  })) {
    for (const record of records) {
      if (record.family !== 'elicitation' || !isOnOurPage(publicUrl, record.row)) continue;
      const { toolId } = record.row.definition.context;
      if (toolId !== undefined) asked.add(toolId);
    }
  }
  return asked;
}
